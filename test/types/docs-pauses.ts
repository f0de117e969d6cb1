// The snippets of docs/pauses.md.
import { Injectable } from '@nestjs/common';
import { on, pauseFor, Subscribe, SubscriptionRegistry } from 'nestjs-settle';
import type { SettleTest } from 'nestjs-settle/testing';
import { expect } from 'vitest';

class BankDown extends Error {}

@Injectable()
export class Billing {
  @Subscribe({
    queue: 'billing',
    retry: { attempts: 5 },
    deadLetter: 'billing.dead',
    onError: [on(BankDown, pauseFor('30s')), 'drop'],
  })
  charge(): void {}

  @Subscribe({
    queue: 'billing',
    retry: { attempts: 5 },
    deadLetter: 'billing.dead',
    onError: 'retryAfter',
    killSwitch: { failures: 0.5, minimum: 10, window: '1m', pause: '30s', max: '10m' },
  })
  refund(): void {}
}

export async function trips(test: SettleTest): Promise<void> {
  test.trip(Billing, 'charge');
  await test.publish('', 'billing', { id: 'A-1' });
  await test.advance('30s');
  await test.idle();
  expect(test.settlements(Billing, 'charge')).toMatchObject([{ outcome: 'ack', attempt: 1 }]);
}

export async function pauses(test: SettleTest): Promise<void> {
  const registry = test.get(SubscriptionRegistry);
  await registry.pause(Billing, 'charge');
  await test.publish('', 'billing', { id: 'A-2' });
  expect((await test.queue('billing')).ready).toBe(1);
  await registry.resume(Billing, 'charge');
}
