import { Injectable } from '@nestjs/common';
import type { Message } from 'amqplib';
import { describe, expect, it } from 'vitest';
import { drop, type Outcome, Subscribe, type SubscribeOptions } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { openProxy } from '../support/proxied';
import { fromClient, fromServer } from '../support/proxy';

/** Longer than the `x-expires` of the queues. */
const PAUSE = 1_200;
const EXPIRES = 400;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What makes RabbitMQ delete a queue that has no consumer. */
const kinds: Readonly<Record<string, SubscribeOptions>> = {
  'an auto-delete queue': { queueOptions: { autoDelete: true } },
  'an auto-delete queue, noAck': { queueOptions: { autoDelete: true }, noAck: true },
  'a queue with x-expires': { queueOptions: { expires: EXPIRES } },
  'a quorum queue with x-expires': {
    queueType: 'quorum',
    queueOptions: { arguments: { 'x-expires': EXPIRES } },
  },
};

describe('a queue that RabbitMQ deletes when it has no consumer', async () => {
  const broker = await openBroker();

  function recorderOf(options: SubscribeOptions) {
    const handled: number[] = [];
    const flags: boolean[] = [];
    @Injectable()
    class Handler {
      @Subscribe(options)
      handle(id: number, message: Message): void {
        handled.push(id);
        flags.push(message.fields.redelivered);
      }
    }
    return { Handler, handled, flags };
  }

  it.each(Object.entries(kinds))('keeps its messages while paused: %s', async (_kind, options) => {
    const [queue, exchange] = [unique('paused'), unique('events')];
    const proxy = await openProxy();
    const { Handler, handled, flags } = recorderOf({
      ...options,
      queue,
      exchange,
      routingKey: 'key',
      prefetch: 3,
    });
    const { registry, log } = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url, exchanges: [{ name: exchange, type: 'direct' }] },
    });
    await broker.publish(exchange, 'key', 0);
    await until(() => handled.length === 1);
    await registry.pause(Handler, 'handle');
    for (const id of [1, 2, 3, 4, 5]) await broker.publish(exchange, 'key', id);
    await sleep(PAUSE);
    expect(handled).toEqual([0]);
    expect(registry.get(Handler, 'handle')).toMatchObject({ state: 'paused', inFlight: 0 });
    await registry.resume(Handler, 'handle');
    await until(() => handled.length === 6);
    expect(handled).toEqual([0, 1, 2, 3, 4, 5]);
    expect(flags).toEqual(Array(6).fill(false));
    expect(log.matching(/.*/, ['error'])).toEqual([]);
    expect(registry.get(Handler, 'handle').state).toBe('consuming');
  });

  it('keeps its messages while paused: a server-named queue', async () => {
    const exchange = unique('events');
    const { Handler, handled } = recorderOf({ exchange, routingKey: 'key', prefetch: 2 });
    const { registry, log } = await startApp({
      providers: [Handler],
      rabbit: { exchanges: [{ name: exchange, type: 'direct' }] },
    });
    await registry.pause(Handler, 'handle');
    for (const id of [1, 2, 3, 4, 5]) await broker.publish(exchange, 'key', id);
    await sleep(200);
    expect(handled).toEqual([]);
    await registry.resume(Handler, 'handle');
    await until(() => handled.length === 5);
    expect(handled).toEqual([1, 2, 3, 4, 5]);
    expect(log.matching(/.*/, ['error'])).toEqual([]);
  });

  it('keeps its messages while paused, across a lost connection: a queue with x-expires', async () => {
    const queue = unique('paused');
    const proxy = await openProxy();
    // Longer than a reconnect takes on a slow machine.
    const expires = 2_500;
    const { Handler, handled } = recorderOf({ queue, queueOptions: { expires } });
    const { registry } = await startApp({
      providers: [Handler],
      rabbit: {
        uri: proxy.url,
        connectionManagerOptions: { reconnectTimeInSeconds: 0.05 },
      },
    });
    await registry.pause(Handler, 'handle');
    for (const id of [1, 2]) await broker.send(queue, id);
    const consumed = proxy.count('client', 'basic.consume');
    proxy.cutAll();
    await until(() => proxy.count('client', 'basic.consume') > consumed + 1);
    await sleep(expires + PAUSE);
    expect(handled).toEqual([]);
    await registry.resume(Handler, 'handle');
    await until(() => handled.length === 2);
    expect(handled).toEqual([1, 2]);
  });

  it.each([
    ['an auto-delete queue', { autoDelete: true }],
    ['a queue with x-expires', { expires: EXPIRES }],
  ])(
    'keeps its messages after a failed republish: %s',
    async (_kind, queueOptions) => {
      const [queue, deadLetter] = [unique('work'), unique('dead')];
      const proxy = await openProxy();
      await broker.declare(deadLetter, {
        arguments: { 'x-max-length': 1, 'x-overflow': 'reject-publish' },
      });
      await broker.send(deadLetter, 'in the way');
      const handled: number[] = [];
      const started = new Gate();
      @Injectable()
      class Handler {
        @Subscribe({ queue, queueOptions, deadLetter, prefetch: 2 })
        async handle(id: number): Promise<Outcome | void> {
          await started.promise;
          handled.push(id);
          if (id === 0) return drop('of no use');
        }
      }
      const { log } = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
      for (const id of [0, 1, 2, 3, 4, 5]) await broker.send(queue, id);
      started.open();
      await until(() => log.matching(/\[republish-failed\]/).length > 0, { timeoutMs: 20_000 });
      await until(() => new Set(handled).size === 6, { timeoutMs: 20_000 });
      await broker.take(deadLetter);
      const dead = await broker.take(deadLetter, 20_000);
      expect(dead.content.toString()).toBe('0');
      expect(handled.filter((id) => id > 0).sort()).toEqual([1, 2, 3, 4, 5]);
      expect(proxy.frames.filter(fromClient('basic.cancel'))).toEqual([]);
      expect(proxy.frames.filter(fromServer('channel.close'))).toEqual([]);
    },
    60_000,
  );

  it('keeps its messages for the next instance while this one shuts down', async () => {
    const queue = unique('work');
    const finish = new Gate();
    const started: number[] = [];
    @Injectable()
    class Handler {
      @Subscribe({ queue, queueOptions: { autoDelete: true }, prefetch: 2 })
      async handle(id: number): Promise<void> {
        started.push(id);
        await finish.promise;
      }
    }
    const { app } = await startApp({ providers: [Handler] });
    await broker.send(queue, 1);
    await until(() => started.length === 1);
    const closed = app.close();
    await sleep(100);
    await broker.send(queue, 2);
    await broker.send(queue, 3);
    const received: string[] = [];
    await broker.channel(async (channel) => {
      await channel.consume(queue, (message) => received.push(`${message?.content}`), {
        noAck: true,
      });
      finish.open();
      await closed;
      await until(() => received.length === 2);
    });
    expect(started).toEqual([1]);
    expect(received.sort()).toEqual(['2', '3']);
  });
});
