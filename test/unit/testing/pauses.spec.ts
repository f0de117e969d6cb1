import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import {
  fixed,
  on,
  pauseFor,
  Subscribe,
  SubscriptionEvents,
  SubscriptionRegistry,
} from '../../../lib';
import { LogRecorder } from '../../support/log-recorder';
import { start } from './app';

class BankDown extends Error {
  override readonly name = 'BankDown';
}

@Injectable()
class Billing {
  isBankDown = true;
  readonly attempts: number[] = [];

  @Subscribe({
    queue: 'billing',
    queueType: 'quorum',
    retry: { attempts: 5, backoff: fixed('1s') },
    deadLetter: 'billing.dead',
    onError: 'retryAfter',
    killSwitch: {},
  })
  charge(): void {
    if (this.isBankDown) throw new BankDown('connect ECONNREFUSED');
  }

  @Subscribe({
    queue: 'refunds',
    queueType: 'quorum',
    prefetch: 1,
    retry: { attempts: 2 },
    deadLetter: 'refunds.dead',
    onError: [on(BankDown, pauseFor('30s')), 'drop'],
  })
  refund(): void {
    this.attempts.push(1);
    if (this.isBankDown) throw new BankDown('connect ECONNREFUSED');
  }
}
async function setUp(version: '3.10' | '4.3' = '4.3') {
  const log = new LogRecorder();
  const test = await start({ providers: [Billing], settle: { logger: log } }, { version });
  const registry = test.get<SubscriptionRegistry>(SubscriptionRegistry);
  return {
    test,
    log,
    billing: test.get<Billing>(Billing),
    status: (method: 'charge' | 'refund') => registry.get(Billing, method),
    registry,
  };
}

describe('the kit and a kill switch', () => {
  it('lets an outage of an hour pass: nothing is dead-lettered', async () => {
    const { test, billing, status, log } = await setUp();
    for (let id = 0; id < 200; id += 1) await test.publish('', 'billing', id);
    await test.idle();
    expect(status('charge')).toMatchObject({ state: 'paused', cause: 'tripped' });
    expect((await test.queue('billing')).consumers).toBe(0);
    await test.advance('1h');
    expect(status('charge').cause).toBe('tripped');
    billing.isBankDown = false;
    await test.advance('10m');
    await test.idle();
    expect(status('charge').state).toBe('consuming');
    expect((await test.queue('billing.dead')).messages).toEqual([]);
    const settlements = test.settlements(Billing, 'charge');
    expect(settlements.filter(({ outcome }) => outcome === 'ack')).toHaveLength(200);
    expect(settlements.filter(({ decision }) => decision === 'republish')).toHaveLength(10);
    const lines = log.matching(/\[kill-switch-/);
    expect(lines).toHaveLength(2 + 2 * log.matching(/trying one message/).length - 1);
  });

  it('trips by hand, and probes after the pause', async () => {
    const { test, billing, status, log } = await setUp();
    billing.isBankDown = false;
    const causes: (string | undefined)[] = [];
    test.get(SubscriptionEvents).subscribe(({ cause, to }) => causes.push(cause ?? to));
    test.trip(Billing, 'charge');
    expect(status('charge').cause).toBe('tripped');
    expect(() => test.trip(Billing, 'refund')).toThrow('Billing.refund has no killSwitch');
    await test.publish('', 'billing', 1);
    await test.advance('29s');
    expect(test.settlements(Billing, 'charge')).toEqual([]);
    await test.advance('1s');
    await test.idle();
    expect(status('charge').state).toBe('consuming');
    expect(causes).toEqual(['tripped', 'reconnecting', 'consuming']);
    expect(log.matching(/kill switch tripped: by hand\. Paused for 30s\.$/)).toHaveLength(1);
  });
});

describe('the kit and pauseFor()', () => {
  it.each(['3.10', '4.3'] as const)(
    'pauses for as long as the clock says (%s)',
    async (version) => {
      const { test, billing, status } = await setUp(version);
      await test.publish('', 'refunds', 1);
      await test.idle();
      expect(status('refund')).toMatchObject({ state: 'paused', cause: 'pauseFor' });
      await test.advance('29s');
      expect(billing.attempts).toHaveLength(1);
      await test.advance('5m');
      expect(billing.attempts).toHaveLength(11);
      billing.isBankDown = false;
      await test.advance('30s');
      const last = test.settlements(Billing, 'refund').at(-1);
      expect(last).toMatchObject({ outcome: 'ack', attempt: 1 });
      expect(status('refund').state).toBe('consuming');
    },
  );

  it('survives a lost channel and an operator', async () => {
    const { test, status, registry } = await setUp();
    await test.publish('', 'refunds', 1);
    await test.idle();
    test.loseChannel(Billing, 'refund');
    await test.advance('5s');
    expect(status('refund').cause).toBe('pauseFor');
    await registry.pause(Billing, 'refund');
    await test.advance('1m');
    expect(status('refund').cause).toBe('operator');
    await registry.resume(Billing, 'refund');
    await test.idle();
    expect(status('refund').cause).toBe('pauseFor');
  });
});
