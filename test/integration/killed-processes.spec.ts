import { describe, expect, it } from 'vitest';
import { management, openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';
import type { AcknowledgedOptions } from '../support/handlers';
import { ChildApp } from '../support/process/child-app';
import { useCompiledFixtures } from '../support/process/compiled';
import type { Job, WorkerSettings } from './fixtures/worker';

const killed = { code: null, signal: 'SIGKILL' } as const;

const quorum = { arguments: { 'x-queue-type': 'quorum' } } as const;

type Subscribed = AcknowledgedOptions & { readonly queue: string };

function capped(queue: string): Subscribed {
  return { queue, retry: { attempts: 3 }, deadLetter: `${queue}.dead` };
}

describe('a message whose handler kills the process', async () => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();

  function start(subscribe: Subscribed): ChildApp {
    const settings: WorkerSettings = { url, subscribe, hooks: 'signal' };
    return new ChildApp(fixtures.pathOf('worker'), { settings });
  }

  async function send(queue: string, ...jobs: Job[]): Promise<void> {
    for (const job of jobs) await broker.send(queue, job, { messageId: `m-${job.id}` });
  }

  /** The attempts that a process makes until it dies and the broker has requeued so many messages. */
  async function attemptsUntilKilled(subscribe: Subscribed, left = 1): Promise<unknown[]> {
    const child = start(subscribe);
    expect(await child.exited()).toEqual(killed);
    await broker.waitForReady(subscribe.queue, left);
    const started = child.reported('started');
    expect(new Set(started.map(({ id }) => id))).toEqual(new Set(['bad']));
    return started.map(({ attempt }) => attempt);
  }

  it('is attempted retry.attempts times on a quorum queue, then dead-lettered without another run', async () => {
    const queue = unique('killed');
    const subscribe: Subscribed = { ...capped(queue), queueType: 'quorum' };
    await broker.declare(queue, quorum);
    await send(queue, { id: 'bad', do: 'die' });
    const attempts = [];
    for (let run = 1; run <= 3; run += 1) attempts.push(...(await attemptsUntilKilled(subscribe)));
    expect(attempts).toEqual([1, 2, 3]);
    const child = start(subscribe);
    const { properties } = await broker.take(`${queue}.dead`, 20_000);
    expect(properties.messageId).toBe('m-bad');
    expect(properties.headers).toMatchObject({
      'x-settle-reason': 'attempts',
      'x-settle-attempts-made': 3,
    });
    await send(queue, { id: 'good', do: 'work' });
    await child.waitFor('done');
    expect(child.reported('started').map(({ id, attempt }) => [id, attempt])).toEqual([
      ['good', 1],
    ]);
    await broker.waitForReady(queue, 0);
  });

  it('counts earlier retries', async () => {
    const queue = unique('killed');
    const subscribe: Subscribed = { ...capped(queue), queueType: 'quorum' };
    await broker.declare(queue, quorum);
    await send(queue, { id: 'bad', do: 'die', at: 2 });
    expect(await attemptsUntilKilled(subscribe)).toEqual([1, 2]);
    expect(await attemptsUntilKilled(subscribe)).toEqual([3]);
    const child = start(subscribe);
    expect((await broker.take(`${queue}.dead`, 20_000)).properties.messageId).toBe('m-bad');
    expect(child.reported('started')).toEqual([]);
  });

  it('is attempted as often if the broker dead-letters it', async () => {
    const queue = unique('killed');
    const subscribe: Subscribed = {
      ...capped(queue),
      queueType: 'quorum',
      deadLetter: { queue: `${queue}.dead`, by: 'broker' },
    };
    const first = start(subscribe); // It declares the queue.
    await first.waitFor('ready');
    await send(queue, { id: 'bad', do: 'die' });
    expect(await first.exited()).toEqual(killed);
    expect(first.reported('started')).toMatchObject([{ id: 'bad', attempt: 1 }]);
    expect(await attemptsUntilKilled(subscribe)).toEqual([2]);
    expect(await attemptsUntilKilled(subscribe, 0)).toEqual([3]);
    const { properties } = await broker.take(`${queue}.dead`);
    expect(properties.headers?.['x-death']).toMatchObject([{ queue, reason: 'delivery_limit' }]);
  });

  it('costs a message that was in flight with it one attempt on a quorum queue', async () => {
    const queue = unique('killed');
    const subscribe: Subscribed = {
      ...capped(queue),
      queueType: 'quorum',
      prefetch: 2,
      retry: { attempts: 2 },
    };
    await broker.declare(queue, quorum);
    await send(queue, { id: 'bad', do: 'die' }, { id: 'beside', do: 'work' });
    await send(queue, { id: 'behind', do: 'work' });
    expect(await attemptsUntilKilled(subscribe, 3)).toEqual([1]);
    expect(await attemptsUntilKilled(subscribe, 3)).toEqual([2]);
    const child = start(subscribe);
    await child.waitFor('done', 2);
    const started = child.reported('started').map(({ id, attempt }) => [id, attempt]);
    expect(Object.fromEntries(started)).toEqual({ beside: 2, behind: 1 });
    expect((await broker.take(`${queue}.dead`)).properties.messageId).toBe('m-bad');
    expect(await broker.ready(`${queue}.dead`)).toBe(0);
  });

  it('is redelivered at attempt 1 for ever on a classic queue, which does not count', async () => {
    const queue = unique('killed');
    const subscribe = capped(queue);
    await broker.declare(queue);
    await send(queue, { id: 'bad', do: 'die' });
    const attempts = [];
    for (let run = 1; run <= 5; run += 1) attempts.push(...(await attemptsUntilKilled(subscribe)));
    expect(attempts).toEqual([1, 1, 1, 1, 1]);
    expect(await broker.ready(`${queue}.dead`)).toBe(0);
  });

  it('is redelivered at its last attempt on a classic queue', async () => {
    const queue = unique('killed');
    await broker.declare(queue);
    await send(queue, { id: 'bad', do: 'hang', at: 2 });
    const attempts = [];
    for (const started of [2, 1, 1]) {
      const child = start(capped(queue));
      await child.waitFor('started', started);
      // The original is acknowledged after its republished message.
      await until(async () => {
        const listed = (await management.queues()).find(({ name }) => name === queue);
        return listed?.messages_ready === 0 && listed.messages_unacknowledged === 1;
      });
      await child.kill();
      await broker.waitForReady(queue, 1);
      attempts.push(child.reported('started').map(({ attempt }) => attempt));
    }
    expect(attempts).toEqual([[1, 2], [2], [2]]);
    expect(await broker.ready(`${queue}.dead`)).toBe(0);
  });
});
