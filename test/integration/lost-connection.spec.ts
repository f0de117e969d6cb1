import { describe, expect, it } from 'vitest';
import { ChannelLostError } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { connectionNamed, killConnections, waitForEmpty } from '../support/forced';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';
import { fromServer } from '../support/proxy';

describe.each(['classic', 'quorum'] as const)('a lost connection, %s queue', async (queueType) => {
  const broker = await openBroker();

  it('redelivers the message of a handler that outlives it once, and nothing else', async () => {
    const queue = unique('outlived');
    const finish = new Gate();
    const runs: { redelivered: boolean; attempt: number }[] = [];
    const after: string[] = [];
    const Handler = handlerOf({ queue, queueType, prefetch: 1 }, async (_payload, delivery) => {
      runs.push({ redelivered: delivery.redelivered, attempt: delivery.attempt });
      if (runs.length === 1) await finish.promise;
    });
    const { log, settlements, settled, registry } = await startApp({
      providers: [Handler],
      rabbit: { connectionManagerOptions: connectionNamed(queue) },
      settle: {
        interceptors: [
          async (delivery, next) =>
            (await next()).andAfter(() => void after.push(`${delivery.redelivered}`)),
        ],
      },
    });
    await broker.send(queue, 1);
    await until(() => runs.length === 1);
    await killConnections(queue);
    await until(() => runs.length === 2);
    finish.open();
    await settled(2);
    // The second run ended first and settled the message, whatever the first one returns later.
    expect(settlements.map(({ status, delivery }) => [delivery.redelivered, status])).toEqual(
      expect.arrayContaining([
        [true, 'sent'],
        [false, 'abandoned'],
      ]),
    );
    expect(runs).toEqual([
      { redelivered: false, attempt: 1 },
      { redelivered: true, attempt: queueType === 'quorum' ? 2 : 1 },
    ]);
    expect(after).toEqual(['true']);
    expect(log.matching(/\[not-acknowledged\]/)).toHaveLength(1);
    expect(registry.get(Handler, 'handle')).toMatchObject({ abandoned: 1, inFlight: 0 });
    await waitForEmpty(queue);
    expect(runs).toHaveLength(2);
  });

  it('leaves one consumer, and no delivery is settled on another channel', async () => {
    const queue = unique('prefetched');
    const proxy = await openProxy();
    const finish = new Gate();
    const signals: AbortSignal[] = [];
    const Handler = handlerOf({ queue, queueType, prefetch: 20 }, async (_payload, delivery) => {
      signals.push(delivery.signal);
      await finish.promise;
    });
    const { settlements, settled } = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url },
    });
    for (let id = 1; id <= 20; id += 1) await broker.send(queue, id);
    await until(() => signals.length === 20);
    expect(signals.some(({ aborted }) => aborted)).toBe(false);
    proxy.cutAll();
    await until(() => signals.length === 40);
    // Each delivery has its own signal: the old ones are aborted, the new ones are not.
    for (const signal of signals.slice(0, 20)) {
      expect(signal.reason).toBeInstanceOf(ChannelLostError);
      expect((signal.reason as Error).cause).toBeInstanceOf(Error);
    }
    expect(signals.slice(20).some(({ aborted }) => aborted)).toBe(false);
    finish.open();
    await settled(40);
    const counted = settlements.map(({ status }) => status);
    expect(counted.filter((one) => one === 'abandoned')).toHaveLength(20);
    expect(counted.filter((one) => one === 'sent')).toHaveLength(20);
    await waitForEmpty(queue);
    // An unknown delivery tag would have closed a channel with 406.
    expect(proxy.frames.filter(fromServer('channel.close'))).toEqual([]);
    const acks = proxy.frames.filter(({ method }) => method === 'basic.ack');
    expect(new Set(acks.map(({ connection }) => connection)).size).toBe(1);
  });

  it('ignores the first run while the second is running in the same process', async () => {
    const queue = unique('parallel');
    const proxy = await openProxy();
    const gates = [new Gate(), new Gate()];
    const aborted: boolean[] = [];
    let runs = 0;
    const Handler = handlerOf({ queue, queueType }, async (_payload, delivery) => {
      const run = runs++;
      await gates[run]?.promise;
      aborted[run] = delivery.signal.aborted;
    });
    const { settlements, settled } = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url },
    });
    await broker.send(queue, 1);
    await until(() => runs === 1);
    proxy.cutAll();
    await until(() => runs === 2);
    proxy.clearFrames();
    gates[0]?.open();
    await settled(1);
    expect(settlements[0]).toMatchObject({
      status: 'abandoned',
      delivery: { redelivered: false },
    });
    expect(proxy.count('client', 'basic.ack')).toBe(0);
    gates[1]?.open();
    await settled(2);
    expect(settlements[1]).toMatchObject({ status: 'sent', delivery: { redelivered: true } });
    await proxy.waitFor(({ method }) => method === 'basic.ack');
    expect(aborted).toEqual([true, false]);
    expect(proxy.count('client', 'basic.ack')).toBe(1);
    await waitForEmpty(queue);
  });
});
