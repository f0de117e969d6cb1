import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { fixed, retry, retryAfter, Subscribe, type SubscribeOptions } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { Gate, until } from '../support/eventually';
import type { AcknowledgedOptions } from '../support/handlers';

/** Two methods on one queue, by routing key and by type, and what they have received. */
function handlerOn(
  shared: AcknowledgedOptions,
  one: Partial<AcknowledgedOptions> = {},
  other: Partial<AcknowledgedOptions> = {},
  body: (method: string, payload: unknown) => unknown = () => undefined,
) {
  const calls: [method: string, payload: unknown, attempt?: number][] = [];
  const call = (method: string, payload: unknown): void => {
    calls.push([method, payload]);
    return body(method, payload) as never;
  };
  @Injectable()
  class Orders {
    @Subscribe({ ...shared, when: { routingKey: 'order.paid.#' }, ...one })
    paid(payload: unknown): void {
      return call('paid', payload);
    }

    @Subscribe({ ...shared, when: { type: ['Cancelled', 'Refused'] }, ...other })
    cancelled(payload: unknown): void {
      return call('cancelled', payload);
    }
  }
  return { Orders, calls };
}

describe.each(['classic', 'quorum'] as const)(
  'methods that share a %s queue',
  async (queueType) => {
    const broker = await openBroker();

    async function declare(): Promise<[queue: string, exchange: string]> {
      const exchange = unique('shared-exchange');
      await broker.exchange(exchange, 'topic');
      return [unique('shared'), exchange];
    }

    it('have one consumer; each message goes to the first method that matches', async () => {
      const [queue, exchange] = await declare();
      const { Orders, calls } = handlerOn({ queue, queueType, exchange, routingKey: '#' });
      const app = await startApp({ providers: [Orders] });
      expect(await broker.consumers(queue)).toBe(1);
      await broker.publish(exchange, 'order.paid.eu', 1);
      await broker.publish(exchange, 'order.paid', 2, { type: 'Cancelled' });
      await broker.publish(exchange, 'order', 3, { type: 'Cancelled' });
      await broker.publish(exchange, 'order', 4, { type: 'Refused' });
      await app.settled(4);
      expect(calls.sort()).toEqual([
        ['cancelled', 3],
        ['cancelled', 4],
        ['paid', 1],
        ['paid', 2],
      ]);
      const handlers = app.settlements.map(({ subscription }) => subscription.handler);
      expect(handlers.sort()).toEqual([
        'Orders.cancelled',
        'Orders.cancelled',
        'Orders.paid',
        'Orders.paid',
      ]);
    });

    it('keep a message on every attempt, each with its own attempts, backoff and dead letters', async () => {
      const [queue, exchange] = await declare();
      const { Orders, calls } = handlerOn(
        { queue, queueType, exchange, routingKey: '#' },
        { retry: { attempts: 3, backoff: fixed(20) }, deadLetter: `${queue}.paid.dead` },
        { retry: { attempts: 2 }, deadLetter: `${queue}.cancelled.dead` },
        (method) => {
          throw method === 'paid' ? retryAfter() : retry();
        },
      );
      const app = await startApp({ providers: [Orders] });
      await broker.publish(exchange, 'order.paid', 1);
      await broker.publish(exchange, 'order.cancelled', 2, { type: 'Cancelled' });
      const paid = await broker.take(`${queue}.paid.dead`);
      const cancelled = await broker.take(`${queue}.cancelled.dead`);
      await app.settled(5);
      expect(paid.content.toString()).toBe('1');
      expect(paid.properties.headers).toMatchObject({
        'x-settle-reason': 'attempts',
        'x-settle-attempts-made': 3,
        'x-settle-handler': 'Orders.paid',
        'x-settle-routing-key': 'order.paid',
      });
      expect(cancelled.properties.headers).toMatchObject({
        'x-settle-reason': 'attempts',
        'x-settle-attempts-made': 2,
        'x-settle-handler': 'Orders.cancelled',
      });
      expect(calls.filter(([method]) => method === 'paid')).toHaveLength(3);
      expect(calls.filter(([method]) => method === 'cancelled')).toHaveLength(2);
    });

    it('leave a message that none takes to onUnmatched, by default to the dead letters', async () => {
      const queue = unique('unmatched');
      const { Orders, calls } = handlerOn(
        { queue, queueType },
        {},
        { deadLetter: `${queue}.dead` },
      );
      const app = await startApp({ providers: [Orders] });
      await broker.send(queue, 5, { messageId: 'm1', type: 'Other' });
      const dead = await broker.take(`${queue}.dead`);
      expect(dead.content.toString()).toBe('5');
      expect(dead.properties.headers).toMatchObject({
        'x-settle-reason': 'unmatched',
        'x-settle-error-name': 'UnmatchedMessageError',
        'x-settle-error-message': `No method of queue "${queue}" takes the message (routing key '${queue}', type 'Other')`,
        'x-settle-handler': 'Orders.paid, Orders.cancelled',
      });
      await app.settled(1);
      expect(calls).toEqual([]);
      expect(app.log.matching(/\[dead-lettered\] message "m1" .*reason "unmatched"/)).toHaveLength(
        1,
      );
    });

    it('take turns with a method without when, which takes what no other takes', async () => {
      const queue = unique('otherwise');
      const { Orders, calls } = handlerOn({ queue, queueType }, { when: undefined as never });
      const app = await startApp({ providers: [Orders] });
      await broker.send(queue, 1, { type: 'Cancelled' });
      await broker.send(queue, 2, { type: 'Other' });
      await app.settled(2);
      expect(calls.sort()).toEqual([
        ['cancelled', 1],
        ['paid', 2],
      ]);
    });
  },
);

describe('methods that share a queue', async () => {
  const broker = await openBroker();

  it.each([
    ['skip', 'ack'],
    ['drop', 'reject'],
    ['failFast', 'leaveUnsettled'],
  ] as const)("apply onUnmatched: '%s' of one of them", async (onUnmatched, decision) => {
    const queue = unique('on-unmatched');
    const { Orders } = handlerOn({ queue }, {}, { onUnmatched });
    const app = await startApp({ providers: [Orders] });
    await broker.send(queue, 1);
    const [settlement] = await app.settled(1);
    expect(settlement?.decision.kind).toBe(decision);
    expect(settlement?.subscription.handler).toBe('Orders.paid, Orders.cancelled');
  });

  it('select by headers, of which every one has to match', async () => {
    const queue = unique('by-header');
    const when = { header: { region: ['eu', 'uk'], test: false } };
    const { Orders, calls } = handlerOn({ queue, onUnmatched: 'skip' }, { when });
    const app = await startApp({ providers: [Orders] });
    await broker.send(queue, 1, { headers: { region: 'uk', test: false } });
    await broker.send(queue, 2, { headers: { region: 'us', test: false } });
    await broker.send(queue, 3, { headers: { region: 'eu' } });
    await broker.send(queue, 4, { headers: { region: 'eu', test: 'false' } });
    await app.settled(4);
    expect(calls).toEqual([['paid', 1]]);
  });

  it('have one status each, with the state of their consumer, and pause together', async () => {
    const queue = unique('shared-status');
    const [started, end] = [new Gate(), new Gate()];
    const { Orders } = handlerOn({ queue }, { when: { type: 'Paid' } }, {}, (method) => {
      if (method === 'paid') started.open();
      return method === 'paid' ? end.promise : undefined;
    });
    const { registry } = await startApp({ providers: [Orders] });
    await broker.send(queue, 1, { type: 'Paid' });
    await started.promise;
    expect(registry.list()).toMatchObject([
      { state: 'consuming', inFlight: 1, subscription: { handler: 'Orders.paid' } },
      { state: 'consuming', inFlight: 0, subscription: { handler: 'Orders.cancelled' } },
    ]);
    const paused = registry.pause(Orders, 'cancelled');
    await until(async () => (await broker.consumers(queue)) === 0);
    expect(registry.list().map(({ state }) => state)).toEqual(['paused', 'paused']);
    end.open();
    await paused;
    await registry.resume(Orders, 'paid');
    await until(async () => (await broker.consumers(queue)) === 1);
    expect(registry.get(Orders, 'cancelled').state).toBe('consuming');
  });

  it.each<[what: string, one: object, other: object, fault: RegExp]>([
    [
      'without a condition',
      { when: undefined },
      { when: undefined },
      /Orders\.cancelled: queue ".*" is already consumed by Orders\.paid; .*when:/,
    ],
    [
      'another queue type',
      { queueType: 'quorum' },
      {},
      /Orders\.cancelled: queueType: expected that of Orders\.paid, .*'quorum'; found 'classic'/,
    ],
    [
      'another prefetch',
      { prefetch: 5 },
      { prefetch: 6 },
      /cancelled: prefetch: expected .* 5; found 6/,
    ],
    ['noAck', {}, { noAck: true }, /cancelled: noAck: expected .* false; found true/],
    [
      'other queue options',
      { queueOptions: { durable: false } },
      {},
      /cancelled: queueOptions: expected/,
    ],
    [
      'another policy for what none takes',
      { onUnmatched: 'skip' },
      { onUnmatched: 'drop' },
      /cancelled: onUnmatched: expected .* 'skip'; found 'drop'/,
    ],
    [
      'another kill switch',
      { killSwitch: { minimum: 5 } },
      { killSwitch: { minimum: 6 } },
      /cancelled: killSwitch: expected .*minimum: 5.*; found .*minimum: 6/,
    ],
    [
      'a kill switch that another method switches off',
      { killSwitch: { minimum: 5 } },
      { killSwitch: false },
      /cancelled: killSwitch: expected .*minimum: 5.*; found false/,
    ],
    [
      'a policy for what none takes, and a method that takes everything',
      { onUnmatched: 'skip' },
      { when: undefined },
      /paid: onUnmatched: expected no such option, since Orders\.cancelled has no when/,
    ],
    [
      'the same condition',
      { when: { type: 'A' } },
      { when: { type: 'A' } },
      /cancelled: when: expected a condition of its own; found that of Orders\.paid/,
    ],
    [
      'a dead-letter queue of the broker and another one',
      { deadLetter: { queue: 'shared.dead', by: 'broker' } },
      { deadLetter: 'other.dead' },
      /cancelled: deadLetter: expected/,
    ],
    ['an empty condition', { when: {} }, {}, /paid: when: expected routingKey, type or header/],
    ['an unknown condition', { when: { key: 'a' } }, {}, /paid: when\.key: expected routingKey/],
    ['an empty list', { when: { type: [] } }, {}, /paid: when\.type: expected a text/],
    ['a header that is an object', { when: { header: { a: {} } } }, {}, /paid: when\.header: /],
    [
      'endless retries of what none takes',
      { onUnmatched: 'retry' },
      {},
      /paid: onUnmatched: expected another policy, or retry\.attempts/,
    ],
  ])('fail at startup with %s', async (_what, one, other, fault) => {
    const { Orders } = handlerOn({ queue: unique('contradicting') }, one, other);
    await expect(startApp({ providers: [Orders] })).rejects.toThrow(fault);
  });

  it('hold back their own messages only', async () => {
    const queue = unique('shared-limits');
    const [started, end] = [new Gate(), new Gate()];
    const rate = { limit: 1, per: '1h' } as const;
    const { Orders, calls } = handlerOn(
      { queue, onUnmatched: 'skip' },
      { when: { type: 'Paid' }, rate },
      { concurrency: 1 },
      (method) => {
        if (method === 'cancelled') started.open();
        return method === 'cancelled' ? end.promise : undefined;
      },
    );
    const app = await startApp({ providers: [Orders], settle: { shutdownTimeout: 100 } });
    await broker.send(queue, 1, { type: 'Paid' });
    await broker.send(queue, 2, { type: 'Paid' });
    await broker.send(queue, 3, { type: 'Cancelled' });
    await broker.send(queue, 4);
    await broker.send(queue, 5);
    await started.promise;
    await app.settled(3);
    expect(app.settlements.map(({ delivery }) => delivery.message.content.toString())).toEqual([
      '1',
      '4',
      '5',
    ]);
    expect(calls).toEqual([
      ['paid', 1],
      ['cancelled', 3],
    ]);
    end.open();
    await app.settled(4);
  });

  it('bind the queue for all of them and can declare their waiting queues', async () => {
    const exchange = unique('shared-bindings');
    await broker.exchange(exchange, 'direct');
    const queue = unique('shared-bindings');
    const backoff = fixed(30_000);
    const bound = (routingKey: string): Partial<AcknowledgedOptions> & SubscribeOptions => ({
      queue,
      exchange,
      routingKey,
      when: { routingKey },
      retry: { attempts: 2, ...(routingKey === 'b' && { backoff }) },
    });
    const { Orders, calls } = handlerOn({ queue }, bound('a'), bound('b'));
    const app = await startApp({ providers: [Orders] });
    await broker.publish(exchange, 'a', 1);
    await broker.publish(exchange, 'b', 2);
    await app.settled(2);
    expect(calls.sort()).toEqual([
      ['cancelled', 2],
      ['paid', 1],
    ]);
    expect(await broker.ready(`${queue}.wait.30000`)).toBe(0);
  });
});
