import { describe, expect, it } from 'vitest';
import { HandlerTimeoutError } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { managed, waitForEmpty } from '../support/forced';
import { handlerOf } from '../support/handlers';
import { itOn } from '../support/versions';

describe.each(['classic', 'quorum'] as const)('slow handlers on a %s queue', async (queueType) => {
  const broker = await openBroker();

  it('that never end free their prefetch slots at the timeout', async () => {
    const queue = unique('never');
    const done: number[] = [];
    const signals: AbortSignal[] = [];
    const Handler = handlerOf(
      { queue, queueType, prefetch: 2, timeout: 300, deadLetter: `${queue}.dead` },
      (id: number, delivery) => {
        if (id <= 2) {
          signals.push(delivery.signal);
          return new Promise(() => undefined);
        }
        done.push(id);
      },
    );
    const { log, settled, settlements } = await startApp({ providers: [Handler] });
    const start = Date.now();
    for (let id = 1; id <= 12; id += 1) await broker.send(queue, id);
    await settled(12);
    expect(Date.now() - start).toBeGreaterThanOrEqual(300);
    expect(done.sort((a, b) => a - b)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(signals.map(({ reason }) => reason)).toEqual([
      expect.any(HandlerTimeoutError),
      expect.any(HandlerTimeoutError),
    ]);
    expect(log.matching(/\[dead-lettered\] .*HandlerTimeoutError/)).toHaveLength(2);
    await broker.waitForReady(`${queue}.dead`, 2);
    await waitForEmpty(queue);
    expect(settlements.every(({ status }) => status === 'sent')).toBe(true);
  });

  it('without a timeout do not delay shutdown beyond shutdownTimeout', async () => {
    const queue = unique('never-limit');
    let started = 0;
    const Handler = handlerOf({ queue, queueType, prefetch: 2 }, () => {
      started += 1;
      return new Promise(() => undefined);
    });
    const { close, log } = await startApp({
      providers: [Handler],
      settle: { shutdownTimeout: 500, abortGracePeriod: 200 },
    });
    for (let id = 1; id <= 3; id += 1) await broker.send(queue, id);
    await until(() => started === 2);
    const start = Date.now();
    await close();
    expect(Date.now() - start).toBeGreaterThanOrEqual(495);
    expect(Date.now() - start).toBeLessThan(3_500);
    expect(
      log.matching(/shutdownTimeout \(500ms\) expired with 2 messages still running/),
    ).toHaveLength(1);
    await broker.waitForReady(queue, 3);
  });

  it('may block the event loop longer than the heartbeat', async () => {
    const queue = unique('blocked');
    const runs: [number, boolean][] = [];
    const Handler = handlerOf(
      { queue, queueType, retry: { attempts: 3 }, deadLetter: `${queue}.dead` },
      (id: number, delivery) => {
        runs.push([id, delivery.redelivered]);
        const end = Date.now() + 6_000;
        while (id === 1 && runs.length === 1 && Date.now() < end);
      },
    );
    const { log, registry } = await startApp({
      providers: [Handler],
      rabbit: {
        connectionManagerOptions: { reconnectTimeInSeconds: 0.3, heartbeatIntervalInSeconds: 1 },
      },
    });
    await broker.send(queue, 1);
    await until(() => runs.length === 2, { timeoutMs: 20_000 });
    await until(() => registry.get(Handler, 'handle').state === 'consuming');
    await broker.send(queue, 2);
    await until(() => runs.length === 3);
    await waitForEmpty(queue);
    expect(runs).toEqual([
      [1, false],
      [1, true],
      [2, false],
    ]);
    expect(
      log.matching(
        /\[channel-closed\] .*\(Error: (Heartbeat timeout|Unexpected close|(?:read|write) ECONNRESET)\)/,
        ['error'],
      ),
    ).toHaveLength(1);
    expect(await broker.ready(`${queue}.dead`)).toBe(0);
  });

  itOn({
    before: '4.3',
    because: 'later ones cancel the consumer, and that of a quorum queue only',
  })(
    "beyond RabbitMQ's consumer timeout close the channel, not the subscription",
    async () => {
      const queue = unique('consumer-timeout');
      // A channel checks the limit at each tick, and reads both settings when it is opened.
      const set = (limit: string, tick: string): Promise<string> =>
        managed().ctl(
          'eval',
          `[application:set_env(rabbit, K, V) || {K, V} <- [{consumer_timeout, ${limit}}, {channel_tick_interval, ${tick}}]].`,
        );
      const before = await managed().ctl(
        'eval',
        '[element(2, application:get_env(rabbit, K)) || K <- [consumer_timeout, channel_tick_interval]].',
      );
      const [limit = '', tick = ''] = before.match(/\d+/g) ?? [];
      const late: boolean[] = [];
      const seen: number[] = [];
      const Handler = handlerOf({ queue, queueType, prefetch: 2 }, (id: number, delivery) => {
        seen.push(id);
        if (id !== 1 || delivery.redelivered) return undefined;
        return new Promise<void>((resolve) => {
          delivery.signal.addEventListener('abort', () => {
            late.push(true);
            resolve();
          });
        });
      });
      try {
        await set('1000', '1000');
        const { log, settled, settlements, registry } = await startApp({ providers: [Handler] });
        await broker.send(queue, 1, { messageId: 'slow' });
        await settled(2, 20_000);
        expect(late).toEqual([true]);
        const line =
          /channel closed \(Error: message "slow" was not acknowledged within RabbitMQ's consumer timeout \(1s; delivered [\d.]+m?s ago\)\..*Reconnecting/;
        expect(log.matching(line, ['error'])).toHaveLength(1);
        for (let id = 2; id <= 6; id += 1) await broker.send(queue, id);
        await settled(7);
        expect(seen).toEqual([1, 1, 2, 3, 4, 5, 6]);
        const counted = settlements.map(({ status }) => status);
        expect(counted.filter((one) => one === 'abandoned')).toHaveLength(1);
        expect(registry.get(Handler, 'handle')).toMatchObject({ abandoned: 1, state: 'consuming' });
        await waitForEmpty(queue);
      } finally {
        await set(limit, tick);
      }
    },
    90_000,
  );
});
