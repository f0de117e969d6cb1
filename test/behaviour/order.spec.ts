import { describe, expect, it } from 'vitest';
import {
  type Delivery,
  drop,
  fixed,
  type Outcome,
  retry,
  retryAfter,
  type SubscribeOptions,
} from '../../lib';
import { SettleOpenTelemetryModule } from '../../lib/opentelemetry';
import { openBroker, startApp, unique } from '../support/environment';
import { Gate, until } from '../support/eventually';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';
import { RecordedMetrics } from '../support/telemetry';

const by = ({ headers }: Delivery): string | undefined => headers['key'] as string | undefined;

describe('order by key', async () => {
  const broker = await openBroker();
  const options = (
    queue: string,
    order: Partial<NonNullable<SubscribeOptions['order']>> = {},
  ): AcknowledgedOptions & { order: NonNullable<SubscribeOptions['order']> } => ({
    queue,
    prefetch: 20,
    singleActiveConsumer: true,
    order: { by, ...order },
  });
  const send = async (queue: string, ...messages: string[]): Promise<void> => {
    for (const message of messages) {
      const [key] = message;
      const headers = key === '-' ? {} : { key };
      await broker.send(queue, message, { headers });
    }
  };

  it('handles one message of a key at a time, others beside it, and messages without a key at once', async () => {
    const queue = unique('order');
    const gates = new Map<string, Gate>();
    const begun: string[] = [];
    const Handler = handlerOf(options(queue), async (payload: string) => {
      begun.push(payload);
      const gate = new Gate();
      gates.set(payload, gate);
      await gate.promise;
    });
    const { registry, settled } = await startApp({ providers: [Handler] });
    await send(queue, 'a1', 'a2', 'b1', '-1', '-2', 'b2', 'a3');
    await until(() => registry.get(Handler, 'handle').waiting === 3);
    expect(begun).toEqual(['a1', 'b1', '-1', '-2']);
    gates.get('b1')?.open();
    await until(() => begun.length === 5);
    gates.get('a1')?.open();
    await until(() => begun.length === 6);
    expect(begun.slice(4)).toEqual(['b2', 'a2']);
    gates.get('a2')?.open();
    await until(() => begun.length === 7);
    for (const gate of gates.values()) gate.open();
    await settled(7);
  });

  it.each<['classic' | 'quorum']>([['classic'], ['quorum']])(
    'a retry keeps its place, with the attempts of the message (%s)',
    async (queueType) => {
      const queue = unique('order.retry');
      const runs: string[] = [];
      const Handler = handlerOf(
        {
          ...options(queue),
          queueType,
          retry: { attempts: 4, backoff: fixed(60) },
          onError: 'retryAfter',
        },
        (payload: string, { attempt }): Outcome | undefined => {
          runs.push(`${payload}.${attempt}`);
          if (payload === 'a1' && attempt === 1) return retry();
          if (payload === 'a1' && attempt === 2) throw new Error('not yet');
          return payload === 'a1' && attempt === 3 ? retryAfter(30) : undefined;
        },
      );
      const { settled, log } = await startApp({ providers: [Handler] });
      await send(queue, 'a1', 'a2', 'b1');
      const settlements = await settled(3);
      expect(runs.filter((run) => run.startsWith('a'))).toEqual([
        'a1.1',
        'a1.2',
        'a1.3',
        'a1.4',
        'a2.1',
      ]);
      expect(runs.indexOf('b1.1')).toBeLessThan(runs.indexOf('a1.4'));
      expect(settlements.map(({ decision }) => decision.kind)).toEqual(['ack', 'ack', 'ack']);
      expect(log.matching(/keeps the order of its key; handled again/)).toHaveLength(3);
    },
  );

  it("whenStuck: 'pause' stops before the message that fails; resume() tries it again", async () => {
    const queue = unique('order.stuck');
    const runs: string[] = [];
    let isBroken = true;
    const Handler = handlerOf(
      { ...options(queue), retry: { attempts: 2 }, onError: 'retry' },
      (payload: string) => {
        runs.push(payload);
        if (payload === 'a2' && isBroken) throw new Error('broken');
      },
    );
    const { registry, settlements } = await startApp({ providers: [Handler] });
    await send(queue, 'a1', 'a2', 'a3');
    await until(() => registry.get(Handler, 'handle').state === 'paused');
    expect(registry.get(Handler, 'handle').cause).toBe('stuck');
    await broker.waitForReady(queue, 2);
    expect(runs).toEqual(['a1', 'a2', 'a2']);
    isBroken = false;
    await registry.resume(Handler, 'handle');
    await until(() => runs.length === 5);
    expect(runs.slice(3)).toEqual(['a2', 'a3']);
    await until(() => settlements.filter(({ status }) => status === 'sent').length === 3);
  });

  it("whenStuck: 'deadLetter' lets the key go on", async () => {
    const queue = unique('order.dead');
    const dead = `${queue}.dead`;
    const runs: string[] = [];
    const Handler = handlerOf(
      {
        ...options(queue, { whenStuck: 'deadLetter', hold: 300 }),
        deadLetter: dead,
        retry: { attempts: 50, backoff: fixed(100) },
        onError: 'retryAfter',
      },
      (payload: string) => {
        runs.push(payload);
        if (payload === 'a1') throw new Error('broken');
      },
    );
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, 'a1', 'a2');
    await settled(2);
    expect(runs.at(-1)).toBe('a2');
    expect(runs.length).toBeLessThanOrEqual(5);
    expect((await broker.take(dead)).properties.headers).toMatchObject({
      'x-settle-reason': 'attempts',
    });
  });

  it("whenStuck: 'overtake' retries as without order", async () => {
    const queue = unique('order.overtake');
    const runs: string[] = [];
    const Handler = handlerOf(
      {
        ...options(queue, { whenStuck: 'overtake', hold: 50 }),
        retry: { attempts: 3, backoff: fixed(150) },
        onError: 'retryAfter',
      },
      (payload: string, { attempt }) => {
        runs.push(`${payload}.${attempt}`);
        if (payload === 'a1' && attempt < 3) throw new Error('not yet');
      },
    );
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, 'a1', 'a2');
    await settled(4);
    expect(runs).toEqual(['a1.1', 'a2.1', 'a1.2', 'a1.3']);
  });

  it('drop() ends a message and the key goes on', async () => {
    const queue = unique('order.drop');
    const runs: string[] = [];
    const Handler = handlerOf(options(queue), (payload: string) => {
      runs.push(payload);
      return payload === 'a1' ? drop() : undefined;
    });
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, 'a1', 'a2');
    await settled(2);
    expect(runs).toEqual(['a1', 'a2']);
  });

  it('a key function that throws is a failure of the message', async () => {
    const queue = unique('order.key');
    const order = {
      by: (delivery: Delivery): string => {
        if (delivery.headers['key'] === 'x') throw new Error('no such key');
        return 'k';
      },
    };
    let runs = 0;
    const Handler = handlerOf({ ...options(queue), order }, () => {
      runs += 1;
    });
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, 'x1', 'a1');
    const [first] = await settled(2);
    expect(first?.decision.kind).toBe('reject');
    expect(first?.error).toMatchObject({ message: 'no such key' });
    expect(runs).toBe(1);
  });

  it.each<['classic' | 'quorum']>([['classic'], ['quorum']])(
    'pause() finishes what has begun and returns the rest in order to another consumer (%s)',
    async (queueType) => {
      const queue = unique('order.pause');
      const runs: string[] = [];
      const first = new Gate();
      const handler = (name: string) =>
        handlerOf(
          { ...options(queue), queueType, retry: { attempts: 10 } },
          async (payload: string) => {
            runs.push(`${name} ${payload}`);
            if (payload === 'a1') await first.promise;
          },
        );
      const [One, Two] = [handler('one'), handler('two')];
      const one = await startApp({ providers: [One] });
      const two = await startApp({ providers: [Two] });
      await send(queue, 'a1', 'a2', 'a3', 'b1', 'a4');
      await until(() => one.registry.get(One, 'handle').waiting === 3);
      const paused = one.registry.pause(One, 'handle');
      await send(queue, 'a5');
      first.open();
      await paused;
      await two.settled(4);
      expect(runs.filter((run) => run.includes('a'))).toEqual([
        'one a1',
        'two a2',
        'two a3',
        'two a4',
        'two a5',
      ]);
      // Resumed, it stands by.
      await one.registry.resume(One, 'handle');
      await until(() => one.registry.get(One, 'handle').state === 'consuming');
      await two.registry.pause(Two, 'handle');
      await send(queue, 'a6');
      await until(() => runs.at(-1) === 'one a6');
    },
  );

  it.each<['classic' | 'quorum']>([['classic'], ['quorum']])(
    'pauses cost no attempt, also those of messages that wait (%s)',
    async (queueType) => {
      const queue = unique('order.pauses');
      const runs: string[] = [];
      const gates: Gate[] = [];
      const Handler = handlerOf(
        { ...options(queue), queueType, retry: { attempts: 2 } },
        async (payload: string, { attempt }) => {
          runs.push(`${payload}.${attempt}`);
          const gate = new Gate();
          gates.push(gate);
          await gate.promise;
        },
      );
      const { registry, settled } = await startApp({ providers: [Handler] });
      await send(queue, 'a1', 'a2', 'a3', 'a4');
      for (let round = 1; round <= 3; round += 1) {
        await until(() => gates.length === round && registry.get(Handler, 'handle').waiting > 0);
        const paused = registry.pause(Handler, 'handle');
        gates.at(-1)?.open();
        await paused;
        await broker.waitForReady(queue, 4 - round);
        await registry.resume(Handler, 'handle');
      }
      await until(() => gates.length === 4);
      gates.at(-1)?.open();
      const settlements = await settled(4);
      expect(runs).toEqual(['a1.1', 'a2.1', 'a3.1', 'a4.1']);
      expect(settlements.map(({ decision }) => decision.kind)).toEqual(Array(4).fill('ack'));
    },
    20_000,
  );

  it('a key that has more than half of the prefetch is logged, and counted', async () => {
    const queue = unique('order.hot');
    const finish = new Gate();
    const hot = { ...options(queue, { hotKeyAfter: 50 }), prefetch: 4 };
    const Handler = handlerOf(hot, () => finish.promise);
    const metrics = new RecordedMetrics();
    const { provider: meterProvider } = metrics;
    const { registry, log, settled } = await startApp({
      providers: [Handler],
      imports: [SettleOpenTelemetryModule.forRoot({ traces: false, meterProvider })],
    });
    const busiest = async (): Promise<unknown> =>
      (await metrics.read()).get('settle.deliveries.busiest_key')?.map(({ value }) => value);
    expect(registry.get(Handler, 'handle').busiestKey).toBeUndefined();
    expect(await busiest()).toEqual([0]);
    await send(queue, 'b1', 'a1', 'a2', 'a3', 'c1');
    await until(() => log.matching(/\[hot-key\].*key 'a' for 50ms, now 3 of 4/).length === 1);
    expect(registry.get(Handler, 'handle').busiestKey).toEqual({ key: 'a', deliveries: 3 });
    expect(await busiest()).toEqual([3]);
    finish.open();
    await settled(5);
    expect(log.matching(/\[hot-key-ended\]/)).toHaveLength(1);
    expect(registry.get(Handler, 'handle').busiestKey).toBeUndefined();
  });

  it.each<[string, object, RegExp]>([
    [
      'no single active consumer',
      { singleActiveConsumer: false },
      /order: expected singleActiveConsumer: true/,
    ],
    ['no key function', { order: {} }, /order.by: expected a function/],
    [
      'a negative duration',
      { order: { by, hotKeyAfter: -1 } },
      /order.hotKeyAfter: expected .*, or false; found -1/,
    ],
    ['noAck', { noAck: true }, /order: expected no such option together with noAck/],
    ['batch', { batch: { size: 2 } }, /batch: expected no such option beside order/],
    [
      'a hold beyond the consumer timeout',
      { queueType: 'quorum', consumerTimeout: '1m', order: { by, hold: '2m' } },
      /order.hold: expected less than the consumer timeout of 1m/,
    ],
    [
      'dead-lettering without a dead-letter queue',
      { order: { by, whenStuck: 'deadLetter' } },
      /order.whenStuck: expected deadLetter beside it/,
    ],
    [
      'priorities',
      { queueOptions: { maxPriority: 5 } },
      /order: expected a queue without priorities/,
    ],
  ])('%s: a startup error', async (_what, wrong, fault) => {
    const Handler = handlerOf(
      { ...options(unique('order.faults')), ...wrong } as never,
      () => undefined,
    );
    await expect(startApp({ providers: [Handler] })).rejects.toThrow(fault);
  });

  it('instances: 1 says that no other process consumes', async () => {
    const Handler = handlerOf(
      { queue: unique('order.one'), order: { by, instances: 1 } },
      () => undefined,
    );
    const { registry } = await startApp({ providers: [Handler] });
    expect(registry.get(Handler, 'handle').state).toBe('consuming');
  });
});
