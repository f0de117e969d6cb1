import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import {
  type Delivery,
  drop,
  type Outcome,
  retryAfter,
  Subscribe,
  SubscriptionRegistry,
} from '../../../lib';
import { start } from './app';

@Injectable()
class Billing {
  signals: AbortSignal[] = [];

  @Subscribe({ queue: 'billing', deadLetter: 'billing.dead' })
  charge(text: string, ...rest: [unknown, unknown, Delivery]): Outcome | Promise<void> | void {
    this.signals.push(rest[2].signal);
    if (text === 'drop') return drop();
    if (text === 'wait') return new Promise(() => {});
  }
}

const app = { providers: [Billing] };

describe('a disturbed server', () => {
  it('with held confirms delays the acknowledgement', async () => {
    const test = await start(app);
    const release = test.server.holdConfirms();
    await test.publish('', 'billing', 'drop');
    await test.advance('1s');
    expect(test.settlements(Billing, 'charge')).toEqual([]);
    expect(await test.queue('billing')).toMatchObject({ ready: 0, unacknowledged: 1 });
    release();
    await test.idle();
    expect(test.settlements(Billing, 'charge')).toMatchObject([{ status: 'sent' }]);
    expect(await test.queue('billing')).toMatchObject({ ready: 0, unacknowledged: 0 });
  });

  it('that refuses publishes requeues the message and pauses the consumer', async () => {
    const test = await start(app);
    test.server.refuseConfirms(true);
    await test.publish('', 'billing', 'drop');
    await test.advance('2s');
    expect(test.settlements(Billing, 'charge')).toMatchObject([{ status: 'republishFailed' }]);
    expect(await test.queue('billing')).toMatchObject({ ready: 1, unacknowledged: 0 });
    test.server.refuseConfirms(false);
    await test.advance('5s');
    expect(test.settlements(Billing, 'charge').at(-1)).toMatchObject({ status: 'sent' });
    expect(await test.queue('billing.dead')).toMatchObject({ ready: 1 });
  });

  it("that closes a channel redelivers, and aborts the running handler's signal", async () => {
    const test = await start(app);
    await test.publish('', 'billing', 'wait');
    await test.advance(0);
    test.loseChannel(Billing, 'charge');
    const [signal] = test.get(Billing).signals;
    expect(signal?.reason).toMatchObject({ name: 'ChannelLostError' });
    expect(test.get(SubscriptionRegistry).get(Billing, 'charge').state).toBe('reconnecting');
    await test.advance('1s');
    expect(test.get(Billing).signals).toHaveLength(2);
    expect(await test.queue('billing')).toMatchObject({ unacknowledged: 1, consumers: 1 });
  });

  it('without the queue has it declared again', async () => {
    const test = await start(app);
    test.server.deleteQueue('billing');
    await test.advance('1s');
    expect(await test.deliver(Billing, 'charge', 'ok')).toMatchObject({ outcome: 'ack' });
  });

  it('that is full when a delayed message returns takes it later', async () => {
    const runs: string[] = [];
    @Injectable()
    class Bounded {
      @Subscribe({
        queue: 'bounded',
        queueOptions: { maxLength: 1, arguments: { 'x-overflow': 'reject-publish' } },
      })
      handle(id: string, ...rest: [unknown, unknown, Delivery]) {
        runs.push(`${id} ${rest[2].attempt}`);
        return id === 'a' && rest[2].attempt === 1 ? retryAfter('1m') : undefined;
      }
    }
    const test = await start({ providers: [Bounded] });
    await test.deliver(Bounded, 'handle', 'a');
    const registry = test.get(SubscriptionRegistry);
    await registry.pause(Bounded, 'handle');
    await test.publish('', 'bounded', 'fills');
    await test.advance('1m');
    expect(await test.queue('bounded')).toMatchObject({ ready: 1 });
    await registry.resume(Bounded, 'handle');
    await test.advance('3m');
    expect(runs).toEqual(['a 1', 'fills 1', 'a 2']);
  });
});
