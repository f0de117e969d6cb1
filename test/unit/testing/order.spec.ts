import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import {
  ChannelLostError,
  type Delivery,
  retry,
  Subscribe,
  SubscriptionRegistry,
} from '../../../lib';
import { Gate } from '../../support/eventually';
import { start } from './app';

describe('an ordered message whose channel is lost while its handler runs', () => {
  it.each(['classic', 'quorum'] as const)('is handled again once (%s)', async (queueType) => {
    const gate = new Gate();
    const runs: string[] = [];
    const reasons: unknown[] = [];
    @Injectable()
    class Ledger {
      @Subscribe({
        queue: 'ledger',
        queueType,
        retry: { attempts: 5 },
        order: { by: () => 'account', instances: 1 },
      })
      async book(payload: string, _message: unknown, _headers: unknown, delivery: Delivery) {
        runs.push(`${payload}.${delivery.attempt}`);
        if (runs.length > 1) return undefined;
        await gate.promise;
        reasons.push(delivery.signal.reason);
        return retry();
      }
    }
    const test = await start({ providers: [Ledger] });
    await test.publish('', 'ledger', 'first');
    await test.publish('', 'ledger', 'second');
    await test.advance(0);
    test.loseChannel(Ledger, 'book');
    await test.advance('1s');
    expect(runs).toEqual(['first.1']);
    gate.open();
    await test.idle();
    await test.advance('1m');
    expect(reasons).toEqual([expect.any(ChannelLostError)]);
    expect(runs).toEqual(['first.1', 'first.1', 'second.1']);
    expect(test.settlements(Ledger, 'book').map(({ status }) => status)).toEqual([
      'abandoned',
      'sent',
      'sent',
    ]);
  });
});

describe('an ordered message that fails on its last attempt', () => {
  async function setUp(whenStuck: 'pause' | 'deadLetter' | 'overtake') {
    const bank = { isDown: true };
    @Injectable()
    class Ledger {
      @Subscribe({
        queue: 'ledger',
        retry: { attempts: 1 },
        deadLetter: 'ledger.dead',
        onError: 'retry',
        order: { by: () => 'account', instances: 1, whenStuck },
        killSwitch: {},
      })
      book(): void {
        if (bank.isDown) throw new Error('connect ECONNREFUSED');
      }
    }
    const test = await start({ providers: [Ledger] });
    const registry = test.get<SubscriptionRegistry>(SubscriptionRegistry);
    return { test, bank, Ledger, status: () => registry.get(Ledger, 'book') };
  }

  it.each(['pause', 'deadLetter', 'overtake'] as const)(
    "stays in its queue while the kill switch probes (whenStuck: '%s')",
    async (whenStuck) => {
      const { test, bank, Ledger, status } = await setUp(whenStuck);
      test.trip(Ledger, 'book');
      await test.publish('', 'ledger', 1);
      await test.advance('1h');
      expect(status()).toMatchObject({ state: 'paused', cause: 'tripped' });
      expect(test.settlements(Ledger, 'book').every((one) => one.status === 'released')).toBe(true);
      expect((await test.queue('ledger')).ready).toBe(1);
      bank.isDown = false;
      await test.advance('10m');
      expect(test.settlements(Ledger, 'book').at(-1)).toMatchObject({ outcome: 'ack', attempt: 1 });
      expect((await test.queue('ledger.dead')).messages).toEqual([]);
      expect(status().state).toBe('consuming');
    },
  );

  it('counts as a failure when it is dead-lettered', async () => {
    const { test, Ledger, status } = await setUp('deadLetter');
    for (let id = 0; id < 12; id += 1) await test.publish('', 'ledger', id);
    await test.idle();
    expect(status().cause).toBe('tripped');
    expect((await test.queue('ledger.dead')).ready).toBe(10);
    expect(test.settlements(Ledger, 'book')).toHaveLength(10);
  });
});
