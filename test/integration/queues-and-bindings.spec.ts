import type { Socket } from 'node:net';
import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { type Delivery, type Outcome, retry, retryAfter, Subscribe } from '../../lib';
import { startApp, type TestApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

/** amqplib's own connection, below golevelup's. */
function rawConnectionOf({ app }: TestApp): { readonly stream: Socket } {
  const { managedConnection } = app.get(AmqpConnection);
  return (managedConnection as never as { connection: { connection: { stream: Socket } } })
    .connection.connection;
}

describe('a queue', async () => {
  const broker = await openBroker();

  it('of an exclusive consumer is retried while another application consumes it', async () => {
    const [queue, other] = [unique('exclusive'), unique('unaffected')];
    const [held, release] = [new Gate(), new Gate()];
    await broker.declare(queue);
    const holding = broker.channel(async (channel) => {
      await channel.consume(queue, () => undefined, { exclusive: true });
      held.open();
      await release.promise;
    });
    await held.promise;
    const queueOptions = { consumerOptions: { exclusive: true } };
    const Waiting = handlerOf({ queue, queueOptions }, () => undefined);
    const Other = handlerOf({ queue: other }, () => undefined);
    const app = await startApp({
      providers: [Waiting, { provide: 'other', useClass: Other }],
      wait: false,
    });
    const tries = () => app.log.matching(/\[reconnecting\] .*exclusive/i, ['error']).length;
    const began = Date.now();
    await until(() => tries() >= 3);
    // At least 100 ms and 200 ms after the first failure.
    expect(Date.now() - began).toBeGreaterThanOrEqual(200);
    expect(app.registry.get(Waiting, 'handle').state).toBe('reconnecting');
    await broker.send(other, {});
    await app.settled(1);
    release.open();
    await holding;
    await app.registry.started;
    await broker.send(queue, {});
    await app.settled(2);
  });

  it('of two methods is a startup error: each would receive some of the messages', async () => {
    const queue = unique('torn');
    @Injectable()
    class Handler {
      @Subscribe({ queue, exchange: queue, routingKey: 'a' })
      one(): void {}

      @Subscribe({ queue, exchange: queue, routingKey: 'b' })
      two(): void {}
    }
    await expect(startApp({ providers: [Handler] })).rejects.toThrow(
      new RegExp(`Handler\\.two: queue "${queue}" is already consumed by Handler\\.one`),
    );
  });

  it('with several exchanges and keys on one method is one subscription', async () => {
    const queue = unique('joined');
    const seen: string[] = [];
    @Injectable()
    class Handler {
      @Subscribe({ queue, exchange: `${queue}.x`, routingKey: ['a', 'b'] })
      @Subscribe({ queue, exchange: `${queue}.y`, routingKey: 'c' })
      @Subscribe({ queue, bindings: [{ exchange: `${queue}.y`, routingKey: 'd' }] })
      handle(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery): void {
        seen.push(`${delivery.exchange} ${delivery.routingKey}`);
      }
    }
    const app = await startApp({
      providers: [Handler],
      rabbit: {
        exchanges: ['x', 'y'].map((name) => ({ name: `${queue}.${name}`, type: 'direct' })),
      },
    });
    expect(app.registry.list()).toHaveLength(1);
    for (const [exchange, key] of [
      ['x', 'a'],
      ['x', 'b'],
      ['y', 'c'],
      ['y', 'd'],
      ['y', 'e'],
    ] as const) {
      await broker.publish(`${queue}.${exchange}`, key, {});
    }
    await app.settled(4);
    const expected = ['x a', 'x b', 'y c', 'y d'].map((text) => `${queue}.${text}`);
    expect(seen.sort()).toEqual(expected);
    expect(await broker.consumers(queue)).toBe(1);
  });

  it('is a subscription of its own for each @Subscribe on one method', async () => {
    const name = unique('apart');
    const seen: string[] = [];
    @Injectable()
    class Handler {
      @Subscribe({ queue: `${name}.a`, exchange: `${name}.x`, routingKey: 'a' })
      @Subscribe({ queue: `${name}.b`, exchange: `${name}.y`, routingKey: 'b' })
      handle(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery): void {
        seen.push(delivery.queue);
      }
    }
    const app = await startApp({
      providers: [Handler],
      rabbit: { exchanges: ['x', 'y'].map((key) => ({ name: `${name}.${key}`, type: 'direct' })) },
    });
    expect(app.registry.list()).toHaveLength(2);
    await broker.publish(`${name}.x`, 'a', {});
    await broker.publish(`${name}.y`, 'b', {});
    await app.settled(2);
    expect(seen.sort()).toEqual([`${name}.a`, `${name}.b`]);
  });

  it('bound to a headers exchange receives its delayed retries', async () => {
    const queue = unique('headers');
    const seen: unknown[] = [];
    @Injectable()
    class Handler {
      @Subscribe({
        queue,
        exchange: queue,
        queueOptions: { bindQueueArguments: { 'x-match': 'all', kind: 'paid' } },
        retry: { attempts: 2 },
      })
      handle(
        _payload: unknown,
        _message: unknown,
        _headers: unknown,
        delivery: Delivery,
      ): Outcome | undefined {
        seen.push([delivery.attempt, delivery.exchange, delivery.headers['kind']]);
        return delivery.attempt === 1 ? retryAfter(50) : undefined;
      }
    }
    const app = await startApp({
      providers: [Handler],
      rabbit: { exchanges: [{ name: queue, type: 'headers' }] },
    });
    await broker.publish(queue, '', {}, { headers: { kind: 'paid' } });
    await broker.publish(queue, '', {}, { headers: { kind: 'open' } });
    await app.settled(2);
    expect(seen).toEqual([
      [1, queue, 'paid'],
      [2, queue, 'paid'],
    ]);
  });

  it.each(['direct', 'topic'])(
    'bound to a %s exchange needs a routing key, which may be empty',
    async (type) => {
      const queue = unique('keyless');
      const rabbit = { exchanges: [{ name: queue, type }] };
      const Without = handlerOf({ queue, exchange: queue }, () => undefined);
      await expect(startApp({ providers: [Without], rabbit })).rejects.toThrow(
        /Handler\.handle: routingKey: expected a key/,
      );
      const Empty = handlerOf({ queue, exchange: queue, routingKey: '' }, () => undefined);
      const app = await startApp({ providers: [Empty], rabbit });
      await broker.publish(queue, '', {});
      await app.settled(1);
    },
  );

  it.each(['classic', 'quorum'] as const)(
    'with a name of 255 bytes still has waiting and dead-letter queues (%s)',
    async (queueType) => {
      const start = unique('länge');
      const queue = start + 'ü'.repeat((255 - Buffer.byteLength(start)) >> 1);
      const dead = unique('dead') + 'x'.repeat(242);
      expect(Buffer.byteLength(queue)).toBeGreaterThanOrEqual(254);
      const Handler = handlerOf(
        { queue, queueType, retry: { attempts: 2 }, deadLetter: dead },
        () => retryAfter(60),
      );
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, {});
      await broker.waitForReady(dead, 1);
      expect(app.settlements.map(({ attempt }) => attempt).sort()).toEqual([1, 2]);
    },
  );

  it('that is server-named receives new messages after a reconnect, and its retries', async () => {
    const exchange = unique('unnamed');
    const seen: [string, number][] = [];
    @Injectable()
    class Handler {
      @Subscribe({ exchange, routingKey: 'a', retry: { attempts: 2 } })
      handle(
        payload: string,
        _message: unknown,
        _headers: unknown,
        delivery: Delivery,
      ): Outcome | undefined {
        seen.push([payload, delivery.attempt]);
        return delivery.attempt === 1 ? retry() : retryAfter(100);
      }
    }
    const app = await startApp({
      providers: [Handler],
      rabbit: { exchanges: [{ name: exchange, type: 'topic' }] },
    });
    const names = () => app.settlements.map(({ delivery }) => delivery.queue);
    await broker.publish(exchange, 'a', 'before');
    await app.settled(2);
    const [first] = names();
    expect(first).toMatch(/^amq\.gen/);
    rawConnectionOf(app).stream.destroy(new Error('cut by a test'));
    await until(() => app.registry.list()[0]?.state === 'reconnecting');
    await until(() => app.registry.list()[0]?.state === 'consuming');
    await broker.publish(exchange, 'a', 'after');
    await app.settled(4);
    expect(names()[2]).not.toBe(first);
    expect(names()[2]).toMatch(/^amq\.gen/);
    expect(seen).toEqual(
      ['before', 'after'].flatMap((payload) => [
        [payload, 1],
        [payload, 2],
      ]),
    );
  });
});
