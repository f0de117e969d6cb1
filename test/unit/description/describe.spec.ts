import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ServerVersion } from '../../../lib/amqp/queue-declarations';
import { fixed, linear } from '../../../lib/model/backoff';
import type { SubscribeOptions } from '../../../lib/model/options';
import { drop, retryAfter } from '../../../lib/model/outcome';
import { on } from '../../../lib/model/policy';
import { described } from './described';

class BankTimeout extends Error {}

/** The effects of one subscription by event: `policy: effect | on the last attempt`. */
function effects(options: SubscribeOptions, version?: ServerVersion): Record<string, string> {
  const [consumer] = described({ 'Billing.charge': options }, version).consumers;
  const all = consumer?.subscriptions[0]?.effects ?? [];
  return Object.fromEntries(
    all.map(({ event, policy, effect, onLastAttempt }) => [
      event,
      [policy && `${policy}: `, effect, onLastAttempt && ` | ${onLastAttempt}`].join(''),
    ]),
  );
}

describe('the effects of a subscription', () => {
  it('on a classic queue without options', () => {
    expect(effects({ queue: 'q' })).toEqual({
      'ack(), nothing': 'acknowledged',
      'drop()': 'rejected and deleted, unless a policy dead-letters it',
      'retry()': 'requeued, not counted as an attempt',
      'retryAfter()': 'waits 1s, 2s, 4s, 8s, 16s, ... in a queue, then the next attempt',
      error: 'drop: rejected and deleted, unless a policy dead-letters it',
      'invalid payload': 'drop: rejected and deleted, unless a policy dead-letters it',
      'panic (a bug)': 'failFast: left unacknowledged and redelivered; the application shuts down',
      'crash, lost connection':
        'redelivered at once; a classic queue does not count it as an attempt',
      'shutdown before the handler has finished': 'requeued, not counted as an attempt',
    });
  });

  const options: SubscribeOptions = {
    queue: 'q',
    queueType: 'quorum',
    retry: { attempts: 3, backoff: fixed('10s') },
    deadLetter: 'q.dead',
    timeout: '5s',
    onError: [on(BankTimeout, 'retryAfter'), on(() => true, retryAfter('1m')), 'retry'],
    onPanic: 'failFastOnce',
    onInvalidPayload: (error) => drop(String(error)),
  };

  it('on a quorum queue with retries and dead letters', () => {
    expect(effects(options)).toEqual({
      'ack(), nothing': 'acknowledged',
      'drop()': 'moved to "q.dead", reason "drop"',
      'retry()': 'requeued, counted as an attempt | moved to "q.dead", reason "attempts"',
      'retryAfter()':
        'waits 10s in a queue, then the next attempt | moved to "q.dead", reason "attempts"',
      'error: BankTimeout':
        'retryAfter: waits 10s in a queue, then the next attempt | moved to "q.dead", reason "attempts"',
      'error: a predicate':
        'retryAfter(): waits 1m in a queue, then the next attempt | moved to "q.dead", reason "attempts"',
      'error, timeout: others':
        'retry: requeued, counted as an attempt | moved to "q.dead", reason "attempts"',
      'invalid payload': 'a function: a function decides for each error',
      'panic (a bug)':
        'failFastOnce: left unacknowledged and redelivered; the application shuts down; if it was redelivered: moved to "q.dead", reason "panic"',
      'crash, lost connection':
        'redelivered at once, counted as an attempt | moved to "q.dead", reason "attempts"',
      'shutdown before the handler has finished': 'requeued, not counted as an attempt',
    });
  });

  it('counts a shutdown as an attempt on a quorum queue before 4.3', () => {
    expect(effects(options, [4, 2])['shutdown before the handler has finished']).toBe(
      'requeued, counted as an attempt',
    );
  });

  it('performed by RabbitMQ', () => {
    const byBroker = effects({
      queue: 'q',
      queueType: 'quorum',
      retry: { attempts: 3, backoff: linear('5s'), by: 'broker' },
      deadLetter: { queue: 'q.dead', by: 'broker' },
    });
    expect(byBroker).toMatchObject({
      'drop()': 'rejected; RabbitMQ moves it to "q.dead"',
      'retryAfter()':
        'requeued; RabbitMQ delays it (linear(5s)) | rejected; RabbitMQ moves it to "q.dead"',
    });
  });

  it('without acknowledgements', () => {
    const lost = 'lost: RabbitMQ removed the message as it delivered it (noAck)';
    expect(effects({ queue: 'q', noAck: true })).toMatchObject({
      'drop()': 'nothing: RabbitMQ removed the message as it delivered it (noAck)',
      'crash, lost connection': lost,
      'shutdown before the handler has finished': lost,
    });
  });

  it('on a server-named queue, which has no waiting queues', () => {
    expect(effects({ exchange: 'orders', routingKey: 'a' })['retryAfter()']).toBe(
      'requeued, not counted as an attempt',
    );
  });
});

describe('describeConsumers', () => {
  it('describes methods that share a queue as one consumer', () => {
    const queue = 'orders';
    const { consumers } = described({
      'Orders.paid': {
        queue,
        exchange: 'orders',
        routingKey: 'order.#',
        when: { routingKey: 'order.paid' },
        schema: z.object({ id: z.string(), at: z.coerce.date() }),
      },
      'Orders.cancelled': { queue, when: { type: 'Cancelled' }, deadLetter: 'orders.dead' },
    });
    expect(consumers).toHaveLength(1);
    const [consumer] = consumers;
    expect(consumer?.bindings).toEqual([
      { exchange: 'orders', routingKey: 'order.#', arguments: {}, isDeclared: true },
    ]);
    expect(consumer?.queues.map(({ name, purpose }) => [name, purpose])).toEqual([
      ['orders', 'subscription'],
      ['orders.dead', 'dead-letter'],
    ]);
    const [paid, cancelled] = consumer?.subscriptions ?? [];
    expect(paid?.when).toBe('routing key "order.paid"');
    expect(paid?.payload).toEqual({
      type: 'object',
      properties: { id: { type: 'string' }, at: {} },
      required: ['id', 'at'],
    });
    const unmatched = cancelled?.effects.find(({ event }) => event === 'taken by no method');
    expect(unmatched).toMatchObject({
      policy: 'drop',
      effect: 'moved to "orders.dead", reason "unmatched"',
    });
  });

  it('lists waiting queues that are declared at startup, and on first use', () => {
    const { consumers } = described({
      'A.a': { queue: 'a', queueType: 'quorum', retry: { attempts: 3, backoff: fixed('10s') } },
      'B.b': { queue: 'b', retry: { attempts: 3 } },
      'C.c': { queue: 'c', retry: { attempts: 3, backoff: fixed(1) }, declare: { waiting: false } },
    });
    const waiting = consumers.flatMap(({ queues }) =>
      queues.filter(({ purpose }) => purpose === 'waiting'),
    );
    expect(waiting.map(({ name, declared }) => [name, declared])).toEqual([
      ['a.waitq.10000', 'startup'],
      ['b.wait.1000', 'first use'],
      ['b.wait.2000', 'first use'],
      ['c.wait.1', 'never'],
    ]);
    expect(waiting[0]?.arguments).toEqual({
      'x-queue-type': 'quorum',
      'x-message-ttl': 10_000,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': 'a',
      'x-overflow': 'reject-publish',
      'x-dead-letter-strategy': 'at-least-once',
    });
  });

  it('has the limits of a subscription', () => {
    const { consumers } = described({
      'A.a': { queue: 'a', concurrency: 2, rate: { limit: 5, per: '1s' }, timeout: '1m' },
      'B.b': { queue: 'b', batch: { size: 100, wait: '1s' } },
    });
    const [[a], [b]] = consumers.map(({ subscriptions }) => subscriptions) as [
      [unknown],
      [unknown],
    ];
    expect(a).toMatchObject({ concurrency: 2, rate: { limit: 5, per: 1_000 }, timeout: 60_000 });
    expect(b).toMatchObject({ batch: { size: 100, wait: 1_000, concurrency: 1 } });
  });

  it('writes options of amqplib as arguments', () => {
    const queueOptions = {
      durable: false,
      messageTtl: 5,
      arguments: { 'x-single-active-consumer': true },
    };
    const { consumers } = described({ 'A.a': { queue: 'a', queueOptions } });
    expect(consumers[0]?.queues[0]).toMatchObject({
      durable: false,
      arguments: {
        'x-message-ttl': 5,
        'x-queue-type': 'classic',
        'x-single-active-consumer': true,
      },
    });
  });
});
