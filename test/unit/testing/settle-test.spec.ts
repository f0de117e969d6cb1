import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import {
  ack,
  type Delivery,
  drop,
  exponential,
  type Outcome,
  retry,
  retryAfter,
  Subscribe,
} from '../../../lib';
import { start } from './app';

class BankTimeout extends Error {
  override readonly name = 'BankTimeout';
}

@Injectable()
class Billing {
  readonly attempts: number[] = [];

  @Subscribe({
    exchange: 'orders',
    routingKey: 'order.paid',
    queue: 'billing',
    queueType: 'quorum',
    retry: { attempts: 6, backoff: exponential('1s', { factor: 4, max: '15m' }) },
    deadLetter: 'billing.dead',
  })
  charge(text: string, ...rest: [unknown, unknown, Delivery]): Outcome | void {
    this.attempts.push(rest[2].attempt);
    if (text === 'drop') return drop('not ours');
    if (text === 'again') return retry();
    if (text === 'later') return retryAfter();
    if (text === 'in 30s') return retryAfter('30s');
    if (text === 'fail') throw new BankTimeout('no answer');
    return ack();
  }
}

const app = { providers: [Billing] };

describe('deliver', () => {
  it('resolves with an acknowledgement', async () => {
    const test = await start(app);
    expect(await test.deliver(Billing, 'charge', 'ok', { messageId: 'm1' })).toEqual({
      handler: 'Billing.charge',
      outcome: 'ack',
      decision: 'ack',
      attempt: 1,
      status: 'sent',
      payload: 'ok',
      messageId: 'm1',
    });
  });

  it('resolves with a dead letter, its reason and message', async () => {
    const test = await start(app);
    const headers = { tenant: 'a' };
    const settlement = await test.deliver(Billing, 'charge', 'drop', { headers });
    expect(settlement).toMatchObject({
      outcome: 'drop',
      decision: 'deadLetter',
      reason: 'drop',
      republished: { queue: 'billing.dead', delay: 0, body: Buffer.from('"drop"') },
    });
    expect(settlement.republished?.headers).toMatchObject({
      tenant: 'a',
      'x-settle-reason': 'drop',
      'x-settle-error-message': 'not ours',
    });
    expect(settlement).not.toHaveProperty('error');
    expect(settlement).not.toHaveProperty('delay');
  });

  it('resolves with an error and its decision', async () => {
    const test = await start(app);
    expect(await test.deliver(Billing, 'charge', 'fail')).toMatchObject({
      outcome: 'drop',
      decision: 'deadLetter',
      reason: 'error',
      error: expect.any(BankTimeout),
    });
  });

  it('resolves with the delay of a retry, given or from the backoff', async () => {
    const test = await start(app);
    expect(await test.deliver(Billing, 'charge', 'in 30s')).toMatchObject({
      outcome: 'retryAfter',
      decision: 'republish',
      delay: 30_000,
      republished: { queue: 'billing.waitq.30000', delay: 30_000 },
    });
    const settlement = await test.deliver(Billing, 'charge', 'later');
    expect(settlement).toMatchObject({ attempt: 1, delay: 1_000 });
    expect(settlement.republished?.headers).toMatchObject({ 'x-settle-attempt': 2 });
  });

  it('resolves with the first attempt, the others are in settlements()', async () => {
    const test = await start(app);
    expect(await test.deliver(Billing, 'charge', 'again')).toMatchObject({ decision: 'requeue' });
    await test.idle();
    const all = test.settlements(Billing, 'charge');
    expect(all.map(({ attempt, decision }) => [attempt, decision])).toEqual([
      ...[1, 2, 3, 4, 5].map((attempt) => [attempt, 'requeue']),
      [6, 'deadLetter'],
    ]);
    expect(all.at(-1)).toMatchObject({ outcome: 'retry', reason: 'attempts' });
  });

  it('ignores messages with the same id of other subscriptions', async () => {
    @Injectable()
    class Forwarding {
      constructor(private readonly amqp: AmqpConnection) {}

      @Subscribe({ queue: 'first' })
      async first(): Promise<Outcome> {
        await this.amqp.publish('', 'second', 2, { messageId: 'm1' });
        await new Promise((resolve) => setTimeout(resolve, 20));
        return drop('first');
      }

      @Subscribe({ queue: 'second' })
      second(): void {}
    }
    const test = await start({ providers: [Forwarding] });
    const settlement = await test.deliver(Forwarding, 'first', 1, { messageId: 'm1' });
    expect(settlement).toMatchObject({ handler: 'Forwarding.first', reason: 'first' });
    expect(test.settlements(Forwarding, 'second')).toHaveLength(1);
  });

  it('sends bytes unchanged, and an empty body for undefined', async () => {
    const test = await start(app);
    const undecodable = await test.deliver(Billing, 'charge', Buffer.from('{ "broken'));
    expect(undecodable).toMatchObject({ reason: 'invalid-payload', decision: 'deadLetter' });
    expect(await test.deliver(Billing, 'charge', undefined)).toMatchObject({ payload: undefined });
  });

  it('rejects after close and for a method without a subscription', async () => {
    const test = await start(app);
    await test.close();
    await expect(test.deliver(Billing, 'charge', 'ok')).rejects.toThrow(
      'the application closed before',
    );
    await expect(test.deliver(Billing, 'other' as never, 'ok')).rejects.toThrow('Billing.other');
  });

  it('settles when the application closes, awaited or not', async () => {
    @Injectable()
    class Slow {
      @Subscribe({ queue: 'slow' })
      handle(): Promise<void> {
        return new Promise(() => {});
      }
    }
    const test = await start({ providers: [Slow] });
    const delivered = test.deliver(Slow, 'handle', 1);
    void test.deliver(Slow, 'handle', 2);
    await new Promise((resolve) => setImmediate(resolve));
    await test.close();
    expect(await delivered).toMatchObject({ status: 'released' });
  });
});

describe('publish and queue', () => {
  it('show whether a message was routed, and the messages of a queue', async () => {
    const test = await start(app);
    expect(await test.publish('orders', 'order.paid', 'drop', { messageId: 'm1' })).toBe(true);
    expect(await test.publish('orders', 'order.lost', 'ok')).toBe(false);
    await expect(test.publish('nowhere', 'a', 'ok')).rejects.toThrow("no exchange 'nowhere'");
    await test.idle();
    expect(await test.queue('billing.dead')).toMatchObject({
      ready: 1,
      unacknowledged: 0,
      consumers: 0,
      messages: [
        {
          payload: 'drop',
          exchange: '',
          routingKey: 'billing.dead',
          redelivered: false,
          headers: { 'x-settle-exchange': 'orders', 'x-settle-routing-key': 'order.paid' },
          properties: { messageId: 'm1' },
        },
      ],
    });
    expect(await test.queue('billing')).toMatchObject({ ready: 0, consumers: 1 });
    await expect(test.queue('nowhere')).rejects.toThrow("no queue 'nowhere'");
  });

  it('are independent in each test', async () => {
    for (let run = 0; run < 2; run += 1) {
      const test = await start(app);
      await test.deliver(Billing, 'charge', 'drop');
      expect(await test.queue('billing.dead')).toMatchObject({ ready: 1 });
      expect(await test.queue('billing')).toMatchObject({ consumers: 1, unacknowledged: 0 });
      expect(test.settlements(Billing, 'charge')).toHaveLength(1);
    }
  });
});

describe('advance', () => {
  it('runs every retry that becomes due', async () => {
    const test = await start(app);
    await test.publish('orders', 'order.paid', 'later');
    await test.idle();
    expect(await test.queue('billing.waitq.1000')).toMatchObject({ ready: 1 });
    await test.advance('999ms');
    expect(test.get(Billing).attempts).toEqual([1]);
    await test.advance('1h');
    expect(test.get(Billing).attempts).toEqual([1, 2, 3, 4, 5, 6]);
    expect((await test.queue('billing.dead')).messages[0]?.headers).toMatchObject({
      'x-settle-reason': 'attempts',
    });
  });
});
