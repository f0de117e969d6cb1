import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { describe, expect, it } from 'vitest';
import { startApp } from '../support/app';
import { openBroker, unique, withoutNagle } from '../support/broker';
import { eventually, until } from '../support/eventually';
import { connectionNamed, killConnections, managed, waitForEmpty } from '../support/forced';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';
import { fromClient, fromServer } from '../support/proxy';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Options of a connection that reconnects almost at once. */
const soonAgain = {
  connectionManagerOptions: {
    reconnectTimeInSeconds: 0.05,
    heartbeatIntervalInSeconds: 5,
    connectionOptions: withoutNagle,
  },
};

/** Collects the warnings of the process while something runs. */
async function warningsOf(work: () => Promise<void>): Promise<string[]> {
  const warnings: string[] = [];
  const warned = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`);
  process.on('warning', warned);
  await work();
  process.removeListener('warning', warned);
  return warnings;
}

describe.each(['classic', 'quorum'] as const)('reconnecting, %s queue', async (queueType) => {
  const broker = await openBroker();

  it('leaves exactly one consumer after each of ten forced reconnects', async () => {
    const queue = unique('forced');
    const proxy = await openProxy();
    const done = new Set<number>();
    const Handler = handlerOf({ queue, queueType, prefetch: 3 }, (id: number) => {
      done.add(id);
    });
    await startApp({ providers: [Handler], rabbit: { uri: proxy.url, ...soonAgain } });
    const moments = [
      fromServer('connection.start'),
      fromServer('channel.open-ok'),
      fromServer('queue.declare-ok'),
      fromServer('basic.qos-ok'),
      fromServer('basic.consume-ok'),
      fromServer('basic.deliver'),
      fromClient('basic.ack'),
      fromClient('channel.open'),
      fromClient('queue.declare'),
      fromClient('basic.consume'),
    ];
    for (const [index, moment] of moments.entries()) {
      const rule = proxy.cutWhen(moment, { before: index % 2 === 0 });
      proxy.cutAll();
      await broker.send(queue, index);
      await until(() => rule.matched === 1);
      await until(() => done.has(index));
      await waitForEmpty(queue);
    }
    // The management API lags a little.
    await eventually(async () => {
      const consumers = (await managed().consumers()).filter((one) => one.queue === queue);
      expect(consumers).toHaveLength(1);
    });
  });

  it('keeps a paused subscription paused, with one consumer when it is resumed', async () => {
    const queue = unique('paused');
    const seen: number[] = [];
    const Handler = handlerOf({ queue, queueType }, (id: number) => {
      seen.push(id);
    });
    const { registry } = await startApp({
      providers: [Handler],
      rabbit: { connectionManagerOptions: connectionNamed(queue) },
    });
    await registry.pause(Handler, 'handle');
    const proof = unique('proof');
    for (let round = 1; round <= 2; round += 1) {
      await killConnections(queue);
      await broker.declare(`${proof}.${round}`);
      await until(async () =>
        (await managed().connections()).some(({ givenName }) => givenName === queue),
      );
    }
    await broker.send(queue, 1);
    // The subscription's own channel is open again: its loop has completed a round.
    await until(async () => {
      const names = (await managed().connections())
        .filter(({ givenName }) => givenName === queue)
        .map(({ name }) => name);
      const channels = await managed().channels();
      return channels.filter(({ connection }) => names.includes(`${connection}`)).length >= 2;
    });
    expect(registry.get(Handler, 'handle').state).toBe('paused');
    expect(await broker.consumers(queue)).toBe(0);
    expect(await broker.ready(queue)).toBe(1);
    expect(seen).toEqual([]);
    await registry.resume(Handler, 'handle');
    await until(() => seen.length === 1);
    await waitForEmpty(queue);
  });

  it('leaves one consumer after a connection is closed repeatedly while it is being set up', async () => {
    const queue = unique('setup');
    const proxy = await openProxy();
    const rules = [
      proxy.cutWhen(fromClient('channel.open'), { before: false, times: 3 }),
      proxy.cutWhen(fromClient('queue.declare', { queue }), { before: false, times: 3 }),
      proxy.cutWhen(fromServer('queue.declare-ok', { queue }), { before: true, times: 2 }),
    ];
    const seen: number[] = [];
    const Handler = handlerOf({ queue, queueType }, (id: number) => {
      seen.push(id);
    });
    const { registry } = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url, connectionInitOptions: { wait: false }, ...soonAgain },
      wait: false,
    });
    await registry.started;
    expect(rules.map(({ matched }) => matched)).toEqual([3, 3, 2]);
    await broker.send(queue, 1);
    await until(() => seen.length === 1);
    await waitForEmpty(queue);
  });
});

describe('many reconnects', async () => {
  const broker = await openBroker();

  it('under traffic leak neither listeners nor memory', async () => {
    const queues = Array.from({ length: 12 }, () => unique('traffic'));
    const proxy = await openProxy();
    proxy.recording = false;
    let runs = 0;
    // Each message is republished once, so the connection for republishing takes part as well.
    const handlers = queues.map((queue) =>
      handlerOf({ queue, retry: { attempts: 2 }, onError: 'retry' }, (_payload, delivery) => {
        runs += 1;
        if (delivery.attempt === 1) throw new Error('once more');
      }),
    );
    const { app, settlements, log, registry } = await startApp({
      providers: handlers,
      rabbit: { uri: proxy.url, ...soonAgain },
    });
    const { managedConnection, managedChannel } = app.get(AmqpConnection);
    const listeners = (): unknown =>
      [managedConnection, managedChannel].map((emitter) =>
        emitter.eventNames().map((name) => [name, emitter.listenerCount(name)]),
      );
    const reconnect = async (): Promise<void> => {
      const before = settlements.length;
      const consumes = proxy.count('client', 'basic.consume');
      for (const queue of queues) await broker.send(queue, {});
      proxy.cutAll();
      // Each subscription consumes again, and golevelup consumes its replies.
      const all = consumes + queues.length + 1;
      await until(() => proxy.count('client', 'basic.consume') >= all);
      await until(() => registry.list().every(({ state }) => state === 'consuming'));
      await until(() => settlements.length >= before + queues.length * 2);
    };
    const heap = (): number => {
      settlements.length = 0;
      log.lines.length = 0;
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const warnings = await warningsOf(async () => {
      for (let round = 0; round < 5; round += 1) await reconnect();
      const [before, heapBefore] = [listeners(), heap()];
      for (let round = 0; round < 30; round += 1) await reconnect();
      await eventually(() => expect(listeners()).toEqual(before));
      expect(heap()).toBeLessThan(heapBefore * 1.1);
    });
    expect(warnings).toEqual([]);
    expect(runs).toBeGreaterThanOrEqual(35 * queues.length * 2);
    for (const queue of queues) await waitForEmpty(queue);
  }, 120_000);
});
