import { Injectable } from '@nestjs/common';
import { describe, expect, it, vi } from 'vitest';
import { Panic, Subscribe, SubscriptionRegistry } from '../../../lib';
import { start } from './app';

@Injectable()
class Billing {
  @Subscribe({ queue: 'billing' })
  charge(payload: string): void {
    if (payload === 'panic') throw new Panic('a bug');
  }

  @Subscribe({ queue: 'refunds' })
  refund(): void {}
}

describe('failFast in a test', () => {
  it('is recorded and stops the application, not the process', async () => {
    const exit = vi.spyOn(process, 'exit').mockImplementation((() => {}) as never);
    const kill = vi.spyOn(process, 'kill').mockImplementation(() => true);
    const test = await start({ providers: [Billing] });
    expect(test.failFastEvent).toBeUndefined();
    expect(await test.deliver(Billing, 'charge', 'panic')).toMatchObject({
      decision: 'leaveUnsettled',
      status: 'none',
      error: expect.any(Panic),
    });
    await test.idle();
    expect(test.failFastEvent).toMatchObject({
      error: expect.any(Panic),
      subscription: { handler: 'Billing.charge' },
      delivery: { payload: 'panic' },
    });
    const states = test
      .get(SubscriptionRegistry)
      .list()
      .map(({ state }) => state);
    expect(states).toEqual(['stopped', 'stopped']);
    expect(await test.queue('billing')).toMatchObject({
      ready: 1,
      consumers: 0,
      messages: [{ payload: 'panic', redelivered: true }],
    });
    expect(exit).not.toHaveBeenCalled();
    expect(kill).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  it('does not call onFailFast of the application', async () => {
    const onFailFast = vi.fn();
    const test = await start({ providers: [Billing], settle: { onFailFast } });
    await test.deliver(Billing, 'charge', 'panic');
    await test.idle();
    expect(test.failFastEvent?.error).toBeInstanceOf(Panic);
    expect(onFailFast).not.toHaveBeenCalled();
  });
});
