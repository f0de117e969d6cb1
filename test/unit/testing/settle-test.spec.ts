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
  charge(say: string, ...rest: [unknown, unknown, Delivery]): Outcome | void {
    this.attempts.push(rest[2].attempt);
    if (say === 'drop') return drop('not ours');
    if (say === 'again') return retry();
    if (say === 'later') return retryAfter();
    if (say === 'in 30s') return retryAfter('30s');
    if (say === 'fail') throw new BankTimeout('no answer');
    return ack();
  }
}

const app = { providers: [Billing] };

describe('deliver', () => {
  it('gives an acknowledgement as a value', async () => {
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

  it('gives a dead letter with its reason and its copy', async () => {
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

  it('gives an error, and what was made of it', async () => {
    const test = await start(app);
    expect(await test.deliver(Billing, 'charge', 'fail')).toMatchObject({
      outcome: 'drop',
      decision: 'deadLetter',
      reason: 'error',
      error: expect.any(BankTimeout),
    });
  });

  it('gives the delay of a retry, the handler’s and the backoff’s', async () => {
    const test = await start(app);
    expect(await test.deliver(Billing, 'charge', 'in 30s')).toMatchObject({
      outcome: 'retryAfter',
      decision: 'republish',
      delay: 30_000,
      republished: { queue: 'billing.waitq.30720', delay: 30_000 },
    });
    const settlement = await test.deliver(Billing, 'charge', 'later');
    expect(settlement).toMatchObject({ attempt: 1, delay: 1_000 });
    expect(settlement.republished?.headers).toMatchObject({ 'x-settle-attempt': 2 });
  });

  it('resolves with the first of several attempts; the others are in settlements()', async () => {
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

  it('waits for the subscription that it names, whoever else gets a message of that id', async () => {
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

  it('takes bytes as they are, and no payload for an empty body', async () => {
    const test = await start(app);
    const undecodable = await test.deliver(Billing, 'charge', Buffer.from('{ "broken'));
    expect(undecodable).toMatchObject({ reason: 'invalid-payload', decision: 'deadLetter' });
    expect(await test.deliver(Billing, 'charge', undefined)).toMatchObject({ payload: undefined });
  });

  it('rejects where the application has stopped, and for a method without a subscription', async () => {
    const test = await start(app);
    await test.close();
    await expect(test.deliver(Billing, 'charge', 'ok')).rejects.toThrow(
      'the application closed before',
    );
    await expect(test.deliver(Billing, 'other' as never, 'ok')).rejects.toThrow('Billing.other');
  });

  it('ends where the application stops before, whether somebody waits for it or not', async () => {
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
  it('say where a message went, and what a queue holds', async () => {
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

  it('let a test be run twice in one process, each with its own messages', async () => {
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
  it('moves the clock through every backoff', async () => {
    const test = await start(app);
    await test.publish('orders', 'order.paid', 'later');
    await test.idle();
    expect(await test.queue('billing.waitq.1024')).toMatchObject({ ready: 1 });
    await test.advance('999ms');
    expect(test.get(Billing).attempts).toEqual([1]);
    await test.advance('1h');
    expect(test.get(Billing).attempts).toEqual([1, 2, 3, 4, 5, 6]);
    expect((await test.queue('billing.dead')).messages[0]?.headers).toMatchObject({
      'x-settle-reason': 'attempts',
    });
  });
});
