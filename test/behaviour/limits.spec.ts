import { describe, expect, it } from 'vitest';
import { SettleStartupError, type SubscribeOptions } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { Gate, until } from '../support/eventually';
import { type AcknowledgedOptions, type Body, handlerOf } from '../support/handlers';

/** A handler that begins, tells its payload, and ends when the test lets it. */
function heldHandler(options: SubscribeOptions) {
  const begun: number[] = [];
  const gates: Gate[] = [];
  const body: Body = async (payload: number) => {
    begun.push(payload);
    const gate = new Gate();
    gates.push(gate);
    await gate.promise;
  };
  return { Handler: handlerOf(options, body), begun, gates };
}

describe('concurrency', async () => {
  const broker = await openBroker();
  const send = async (queue: string, payloads: readonly number[]): Promise<void> => {
    for (const payload of payloads) await broker.send(queue, payload);
  };

  it('runs so many handlers at once, in order; the rest of the prefetch waits', async () => {
    const queue = unique('concurrency');
    const { Handler, begun, gates } = heldHandler({ queue, prefetch: 5, concurrency: 2 });
    const { registry, settled } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2, 3, 4, 5, 6]);
    await until(() => registry.get(Handler, 'handle').waiting === 3);
    expect(registry.get(Handler, 'handle').inFlight).toBe(2);
    expect(begun).toEqual([1, 2]);
    gates[1]?.open();
    await until(() => begun.length === 3);
    expect(begun).toEqual([1, 2, 3]);
    for (let done = 0; done < 6; done += 1) {
      await until(() => gates.length > done);
      gates[done]?.open();
    }
    expect((await settled(6)).map(({ status }) => status)).toEqual(Array(6).fill('sent'));
    expect(begun).toEqual([1, 2, 3, 4, 5, 6]);
    expect(registry.get(Handler, 'handle').waiting).toBe(0);
  });

  it.each<['classic' | 'quorum']>([['classic'], ['quorum']])(
    'what waits is requeued when the subscription is paused, and handled after it (%s)',
    async (queueType) => {
      const queue = unique('concurrency.pause');
      const options = { queue, queueType, prefetch: 3, concurrency: 1 };
      const { Handler, begun, gates } = heldHandler(options);
      const { registry, settlements, settled } = await startApp({ providers: [Handler] });
      await send(queue, [1, 2, 3, 4]);
      await until(() => registry.get(Handler, 'handle').waiting === 2);
      const paused = registry.pause(Handler, 'handle');
      await until(() => settlements.length === 2);
      expect(settlements.map(({ status, delivery }) => [delivery.payload, status])).toEqual([
        [undefined, 'released'],
        [undefined, 'released'],
      ]);
      expect(registry.get(Handler, 'handle')).toMatchObject({ waiting: 0, inFlight: 1 });
      gates[0]?.open();
      await paused;
      await broker.waitForReady(queue, 3);
      expect(begun).toEqual([1]);
      await registry.resume(Handler, 'handle');
      for (const done of [1, 2, 3]) {
        await until(() => gates.length > done);
        gates[done]?.open();
      }
      await settled(6);
      // Before 4.0, a quorum queue without a delivery limit puts them behind the others.
      const order = queueType === 'classic' ? begun : [...begun].sort();
      expect(order).toEqual([1, 2, 3, 4]);
    },
  );

  it('what waits is requeued at shutdown, at once', async () => {
    const queue = unique('concurrency.stop');
    const { Handler, begun, gates } = heldHandler({ queue, prefetch: 4, concurrency: 1 });
    const { registry, close, settlements } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2, 3]);
    await until(() => registry.get(Handler, 'handle').waiting === 2);
    const closed = close();
    await broker.waitForReady(queue, 2);
    gates[0]?.open();
    await closed;
    expect(begun).toEqual([1]);
    expect(settlements.map(({ status }) => status).sort()).toEqual([
      'released',
      'released',
      'sent',
    ]);
    expect(await broker.ready(queue)).toBe(2);
  });

  it('a failFast begins nothing that waits: all of it stays in the queue', async () => {
    const queue = unique('concurrency.fail-fast');
    const begun: number[] = [];
    const Handler = handlerOf({ queue, prefetch: 4, concurrency: 1 }, async (payload: number) => {
      begun.push(payload);
      await until(() => app.registry.get(Handler, 'handle').waiting === 2);
      throw new ReferenceError('a bug');
    });
    const app = await startApp({ providers: [Handler] });
    await send(queue, [1, 2, 3]);
    await until(() => app.failed.length === 1);
    await broker.waitForReady(queue, 3);
    expect(begun).toEqual([1]);
    const bodies = [];
    for (let taken = 0; taken < 3; taken += 1) {
      bodies.push(Number((await broker.take(queue)).content.toString()));
    }
    expect(bodies).toEqual([1, 2, 3]);
  });

  it('noAck: what waits cannot be requeued, so a pause handles it', async () => {
    const queue = unique('concurrency.no-ack');
    const { Handler, begun, gates } = heldHandler({ queue, noAck: true, concurrency: 1 });
    const { registry } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2, 3]);
    await until(() => registry.get(Handler, 'handle').waiting === 2);
    let isPaused = false;
    const paused = registry.pause(Handler, 'handle').then(() => {
      isPaused = true;
    });
    for (const done of [0, 1, 2]) {
      await until(() => gates.length > done);
      expect(isPaused).toBe(false);
      gates[done]?.open();
    }
    await paused;
    expect(begun).toEqual([1, 2, 3]);
  });

  it('noAck: what still waits when shutdown times out is lost, and a line says so', async () => {
    const queue = unique('concurrency.no-ack-stop');
    const { Handler, begun } = heldHandler({ queue, noAck: true, concurrency: 1 });
    const { registry, close, log } = await startApp({
      providers: [Handler],
      settle: { shutdownTimeout: 100, abortGracePeriod: 50 },
    });
    await send(queue, [1, 2]);
    await until(() => registry.get(Handler, 'handle').waiting === 1);
    await close();
    expect(begun).toEqual([1]);
    expect(log.matching(/\[no-ack\]/)).toHaveLength(2);
  });

  it('a handler that has timed out makes room; waiting does not count towards the timeout', async () => {
    const queue = unique('concurrency.timeout');
    const options = { queue, concurrency: 1, timeout: 300 } satisfies AcknowledgedOptions;
    const { Handler, begun, gates } = heldHandler(options);
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2]);
    await until(() => begun.length === 2);
    gates[1]?.open();
    const [first, second] = await settled(2);
    expect(first?.error).toMatchObject({ name: 'HandlerTimeoutError' });
    expect(second).toMatchObject({ outcome: { kind: 'ack' }, status: 'sent' });
    expect(second?.durationMs).toBeLessThan(300);
  });
});

describe('rate', async () => {
  const broker = await openBroker();

  it('begins no more handlers than the limit within any span', async () => {
    const queue = unique('rate');
    const begun: number[] = [];
    const Handler = handlerOf({ queue, rate: { limit: 2, per: '1s' } }, () => {
      begun.push(performance.now());
    });
    const { registry, settled } = await startApp({ providers: [Handler] });
    for (let payload = 1; payload <= 6; payload += 1) await broker.send(queue, payload);
    await until(() => registry.get(Handler, 'handle').waiting > 0);
    await settled(6);
    const spans = begun.slice(2).map((time, index) => time - (begun[index] ?? 0));
    // A handler is called after it has been counted, how long after depends on the machine.
    expect(Math.min(...spans)).toBeGreaterThanOrEqual(500);
  });

  it('what waits is requeued when the subscription is paused; no timer stays', async () => {
    const queue = unique('rate.pause');
    let runs = 0;
    const Handler = handlerOf({ queue, rate: { limit: 1, per: '10m' } }, () => {
      runs += 1;
    });
    const { registry } = await startApp({ providers: [Handler] });
    for (let payload = 1; payload <= 3; payload += 1) await broker.send(queue, payload);
    await until(() => registry.get(Handler, 'handle').waiting === 2);
    await registry.pause(Handler, 'handle');
    await broker.waitForReady(queue, 2);
    expect(runs).toBe(1);
  });
});

describe('limits that the prefetch does not allow', () => {
  it.each<[string, SubscribeOptions, RegExp]>([
    [
      'a concurrency above the prefetch',
      { prefetch: 3, concurrency: 4 },
      /concurrency: expected at most the prefetch, which is 3; found 4/,
    ],
    [
      "a concurrency above the connection's prefetch",
      { concurrency: 11 },
      /concurrency: expected at most the prefetch, which is 10; found 11/,
    ],
    [
      'a rate too low for the consumer timeout',
      { queueType: 'quorum', prefetch: 100, rate: { limit: 1, per: '2s' }, consumerTimeout: '5m' },
      /rate: expected a rate at which a prefetch of 100 is handled within half of the consumer timeout of 5m/,
    ],
    [
      'a rate too low for the consumer timeout among the arguments',
      {
        queueType: 'quorum',
        prefetch: 100,
        rate: { limit: 1, per: '2s' },
        queueOptions: { arguments: { 'x-consumer-timeout': 300_000 } },
      },
      /rate: expected a rate/,
    ],
  ])('%s: a startup error', async (_what, options, fault) => {
    const Handler = handlerOf({ queue: unique('limits'), ...options }, () => undefined);
    const started = startApp({ providers: [Handler] });
    await expect(started).rejects.toThrow(SettleStartupError);
    await expect(started).rejects.toThrow(fault);
  });
});
