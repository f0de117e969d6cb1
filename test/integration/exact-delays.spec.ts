import { describe, expect, it } from 'vitest';
import { fixed, retryAfter, type SubscribeOptions, steps } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';
import { waitingQueuesOf } from '../support/waiting-queues';

describe.each(['classic', 'quorum'] as const)('delays of a %s queue', async (queueType) => {
  const broker = await openBroker();
  const tail = queueType === 'classic' ? 'wait' : 'waitq';

  const waitingQueues = (queue: string) => waitingQueuesOf(queue, queueType);

  /** Starts a subscription that delays each message by its backoff; returns what it has run. */
  async function delaying(options: AcknowledgedOptions) {
    const runs: { attempt: number; at: number }[] = [];
    const Handler = handlerOf({ queueType, ...options }, (_payload, { attempt }) => {
      runs.push({ attempt, at: Date.now() });
      return retryAfter();
    });
    const app = await startApp({ providers: [Handler] });
    return { runs, app };
  }

  it('that are known at startup have queues of exactly their time then', async () => {
    const queue = unique('known');
    const { runs, app } = await delaying({
      queue,
      retry: { attempts: 3, backoff: steps([333, 150]) },
      deadLetter: `${queue}.dead`,
    });
    const declared = [`${queue}.${tail}.150`, `${queue}.${tail}.333`];
    expect(await waitingQueues(queue)).toEqual(declared);
    await broker.send(queue, {});
    await broker.waitForReady(`${queue}.dead`, 1);
    const [first, second, third] = runs.map(({ at }) => at) as [number, number, number];
    expect(second - first).toBeGreaterThanOrEqual(333);
    expect(third - second).toBeGreaterThanOrEqual(150);
    expect(await waitingQueues(queue)).toEqual(declared);
    const delayed = app.settlements.filter(({ republished }) => republished?.delayMs);
    expect(delayed.map(({ republished }) => republished?.queue)).toEqual(declared.reverse());
  });

  it('of a message that waits while the backoff changes still count its attempts', async () => {
    const queue = unique('changed');
    const before = await delaying({ queue, retry: { attempts: 3, backoff: fixed(1_777) } });
    await broker.send(queue, {});
    await before.app.settled(1);
    await before.app.close();
    const { runs } = await delaying({ queue, retry: { attempts: 3, backoff: fixed(50) } });
    await until(() => runs.length === 2);
    expect(runs.map(({ attempt }) => attempt)).toEqual([2, 3]);
  });

  it.each<[string, Partial<SubscribeOptions>]>([
    ['no retry', {}],
    ['the default backoff, which nothing uses', { retry: { attempts: 5 } }],
    ['jitter', { retry: { attempts: 5, backoff: fixed('1s', { jitter: 0.1 }) } }],
    ['a backoff of its own', { retry: { attempts: 5, backoff: { delay: () => 1_000 } } }],
    ['one attempt', { retry: { attempts: 1, backoff: fixed('1s') } }],
  ])('need no queue at startup with %s', async (_name, options) => {
    const queue = unique('unused');
    const Handler = handlerOf({ queue, queueType, ...options } as SubscribeOptions, () => {});
    await startApp({ providers: [Handler] });
    expect(await waitingQueues(queue)).toEqual([]);
  });
});

it('a delay that may not be declared is refused at startup', async () => {
  const queue = unique('missing');
  const Handler = handlerOf(
    { queue, retry: { attempts: 2, backoff: fixed('1s') }, declare: { waiting: false } },
    () => undefined,
  );
  await expect(startApp({ providers: [Handler] })).rejects.toThrow(
    new RegExp(`RabbitMQ refused to declare or consume queue "${queue}".*${queue}\\.wait\\.1000`),
  );
});
