import { type CanActivate, Injectable } from '@nestjs/common';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { on, Subscribe } from '../../lib';
import { SettleConsoleModule } from '../../lib/console';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { findBrowser, noBrowser, startBrowser } from '../support/browser';
import { until } from '../support/eventually';

class Anybody implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

class BankTimeout extends Error {}

const executable = await findBrowser();

describe.skipIf(executable === undefined)(
  `the page of the console${executable === undefined ? ` (${noBrowser})` : ''}`,
  async () => {
    const broker = await openBroker();
    let browser: Browser;
    beforeAll(async () => {
      browser = await startBrowser(executable ?? '');
    }, 60_000);
    afterAll(() => browser?.close());

    it('groups, opens, replays, discards, pauses and resumes by clicks', async () => {
      const queue = unique('page');
      const dead = `${queue}.dead`;
      let isBroken = true;
      const handled: string[] = [];

      @Injectable()
      class Billing {
        @Subscribe({ queue, deadLetter: dead, onError: [on(BankTimeout, 'drop'), 'drop'] })
        charge(order: { id: string; fault: string }): void {
          if (isBroken) {
            if (order.fault === 'bank') throw new BankTimeout('no answer');
            throw new Error('<img src=x onerror="window.pwned = 1">');
          }
          handled.push(order.id);
        }
      }
      const { app, registry, settled } = await startApp({
        providers: [Billing],
        imports: [
          SettleConsoleModule.forRoot({
            guards: [Anybody],
            allow: ['replay', 'discard', 'pause'],
            showPayload: true,
          }),
        ],
      });
      for (const id of ['a', 'b', 'c', 'd']) {
        const fault = id === 'd' ? 'other' : 'bank';
        await broker.send(queue, { id, fault }, { messageId: `order-${id}` });
      }
      await settled(4);
      isBroken = false;
      await app.listen(0, '127.0.0.1');
      const page = await browser.newPage();
      const faults = faultsOf(page);
      await page.goto(`${(await app.getUrl()).replace('[::1]', '127.0.0.1')}/settle`);

      // The card leads to the dead letters.
      const card = page.locator('.card', { hasText: 'Billing.charge' });
      await card.getByRole('link', { name: `4 dead letters in ${dead}` }).click();
      await page.getByRole('heading', { name: '2 groups' }).waitFor();
      const bank = page.locator('.group', { hasText: 'BankTimeout: no answer' });
      expect(await bank.locator('.group-count').textContent()).toBe('3');

      // A message with its body; a foreign text is never markup.
      await page.getByRole('link', { name: 'order-d' }).click();
      const drawer = page.locator('.drawer');
      await drawer.locator('pre').waitFor();
      expect(await drawer.locator('pre').textContent()).toBe(
        '{\n  "id": "d",\n  "fault": "other"\n}',
      );
      expect(await drawer.textContent()).toContain('<img src=x onerror=');
      expect(await page.evaluate('window.pwned')).toBeUndefined();
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'hidden' });

      // A group is replayed after its dry run.
      await bank.getByRole('button', { name: 'Replay' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Dry run: 3 messages of the group would be replayed.').waitFor();
      expect(await broker.ready(dead)).toBe(4);
      await dialog.getByRole('button', { name: 'Replay 3 messages' }).click();
      await page.getByText('3 messages replayed · complete').waitFor();
      await until(() => handled.length === 3);
      expect(handled).toEqual(['a', 'b', 'c']);
      await page.getByRole('heading', { name: '1 group' }).waitFor();

      // A selection is discarded after its dry run.
      await page.getByRole('checkbox', { name: 'Select message 1' }).check();
      await page.getByRole('button', { name: 'Discard the selection' }).click();
      await dialog.getByText('Dry run: 1 message of the selection would be deleted.').waitFor();
      await dialog.getByRole('button', { name: 'Delete 1 message' }).click();
      await page.getByText('1 message discarded').waitFor();
      await page.getByText('The queue is empty.').waitFor();
      expect(await broker.ready(dead)).toBe(0);

      // Pause and resume, shown by the stream.
      await page.getByRole('link', { name: /^Subscriptions/ }).click();
      await page.getByRole('button', { name: 'Pause Billing.charge' }).click();
      await card.getByText('Paused: by an operator.').waitFor();
      expect(registry.list()[0]?.state).toBe('paused');
      await page.getByRole('button', { name: 'Resume Billing.charge' }).click();
      await card.getByText('Consuming', { exact: true }).waitFor();
      expect(faults).toEqual([]);
    }, 60_000);
  },
);

/** What the page reports as errors, a refusal of its content security policy among them. */
function faultsOf(page: Page): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  return faults;
}
