import { describe, expect, it, onTestFinished } from 'vitest';
import { fixed, retryAfter, SettlementEvents } from '../../lib';
import { roundUpDelay } from '../../lib/delivery/waiting-queue';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { waitingQueuesOf } from '../support/waiting-queues';

const DAY = 86_400_000;

describe.each(['classic', 'quorum'] as const)('delays on a %s queue', async (queueType) => {
  const broker = await openBroker();
  const tail = queueType === 'classic' ? 'wait' : 'waitq';

  const waitingQueues = (queue: string) => waitingQueuesOf(queue, queueType);

  it('of different lengths overtake each other', async () => {
    const queue = unique('mixed');
    const runs: { id: string; attempt: number; at: number }[] = [];
    const Handler = handlerOf(
      { queue, queueType, retry: { attempts: 2 } },
      ({ id, delay }: { id: string; delay: number }, { attempt }) => {
        runs.push({ id, attempt, at: Date.now() });
        return attempt === 1 ? retryAfter(delay) : undefined;
      },
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, { id: 'long', delay: 2_500 });
    await broker.send(queue, { id: 'short', delay: 300 });
    await broker.send(queue, { id: 'longer', delay: 2_600 });
    await broker.send(queue, { id: 'shorter', delay: 250 });
    await app.settled(8);
    const waited = (id: string): number => {
      const [first, second] = runs.filter((run) => run.id === id);
      return (second?.at ?? 0) - (first?.at ?? 0);
    };
    expect(waited('long')).toBeGreaterThanOrEqual(2_500);
    expect(waited('longer')).toBeGreaterThanOrEqual(2_600);
    expect(waited('short')).toBeGreaterThanOrEqual(300);
    expect(waited('shorter')).toBeGreaterThanOrEqual(250);
    expect(waited('short')).toBeLessThan(2_500);
    expect(waited('shorter')).toBeLessThan(2_500);
    expect(waited('long')).toBeLessThan(12_000);
  });

  it.each<[unknown, number]>([
    [0.4, 1],
    [1.5, 2],
    ['500ms', 500],
    [300, 300],
  ])('retryAfter(%s) takes at least %d ms', async (delay, least) => {
    const queue = unique('exact');
    const at: number[] = [];
    const Handler = handlerOf({ queue, queueType }, () => {
      at.push(Date.now());
      return at.length === 1 ? retryAfter(delay as number) : undefined;
    });
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    await app.settled(2);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(least);
    expect(await waitingQueues(queue)).toEqual([`${queue}.${tail}.${roundUpDelay(least)}`]);
    expect(app.log.matching(/found/)).toEqual([]);
  });

  it('retryAfter(0) is retry()', async () => {
    const queue = unique('zero');
    const Handler = handlerOf({ queue, queueType, retry: { attempts: 2 } }, (_payload, delivery) =>
      delivery.attempt === 1 ? retryAfter(0) : undefined,
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const settlements = await app.settled(2);
    expect(settlements.find(({ attempt }) => attempt === 1)?.decision).toEqual(
      queueType === 'quorum' ? { kind: 'requeue' } : { kind: 'republish', attempt: 2, delayMs: 0 },
    );
    expect(await waitingQueues(queue)).toEqual([]);
  });

  it.each<[unknown]>([
    [-1],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [2 ** 32],
    [1e15],
    ['500'],
    ['soon'],
    [49 * DAY + 1],
    [null],
    [{}],
    [10n],
  ])('retryAfter(%s) logs an error and uses the backoff', async (delay) => {
    const queue = unique('unusable');
    const Handler = handlerOf(
      { queue, queueType, retry: { attempts: 3, backoff: fixed(20) } },
      (_payload, { attempt }) => (attempt === 1 ? retryAfter(delay as number) : undefined),
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const settlements = await app.settled(2);
    const first = settlements.find(({ attempt }) => attempt === 1);
    expect(first?.decision).toMatchObject({ kind: 'republish', delayMs: 20 });
    const lines = app.log.matching(/\[invalid-delay\]/, ['error']);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('Handler.handle');
    expect(app.log.matching(/channel/)).toEqual([]);
    expect(app.settlements).toHaveLength(2);
  });

  it.each([2 ** 31 - 1, 2 ** 31, 47 * DAY, 49 * DAY])('of %d ms are possible', async (delay) => {
    const queue = unique('long');
    const Handler = handlerOf({ queue, queueType, retry: { attempts: 2 } }, () =>
      retryAfter(delay),
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const [first] = await app.settled(1);
    expect(first?.status).toBe('sent');
    // Handlers of other tests of this file are in none of this application's modules.
    expect(app.log.matching(/^(?!\[unused-handlers\])/, ['warn', 'error'])).toEqual([]);
    const [name, ...others] = await waitingQueues(queue);
    expect(others).toEqual([]);
    expect(Number(name?.split('.').at(-1))).toBeGreaterThanOrEqual(delay);
    await broker.waitForReady(name ?? '', 1);
  });

  const many = queueType === 'classic' ? 1_000 : 300;
  it(`of ${many} different lengths need few queues and lose nothing`, {
    timeout: 60_000,
  }, async () => {
    const queue = unique('many');
    const Handler = handlerOf({ queue, queueType, prefetch: 100 }, (delay: number) =>
      retryAfter(delay),
    );
    const app = await startApp({ providers: [Handler] });
    const delays = Array.from({ length: many }, (_, index) => 60_000 + 240 * index);
    const grid = new Set(delays.map(roundUpDelay));
    onTestFinished(async () => {
      for (const ms of grid) await broker.delete(`${queue}.${tail}.${ms}`);
    });
    await Promise.all(delays.map((delay) => broker.send(queue, delay)));
    await app.settled(many, 40_000);
    const names = await waitingQueues(queue);
    expect(names).toHaveLength(grid.size);
    expect(names.length).toBeLessThanOrEqual(25);
    await until(async () => {
      const waiting = await Promise.all(names.map((name) => broker.ready(name)));
      return waiting.reduce<number>((sum, ready) => sum + (ready ?? 0), 0) === many;
    });
  });

  it('survive a waiting queue with other arguments: nothing is lost, the consumer stays', async () => {
    const queue = unique('other');
    const name = `${queue}.${tail}.${roundUpDelay(300)}`;
    await broker.declare(name, { messageTtl: 1, arguments: { 'x-queue-type': queueType } });
    const outcomes: string[] = [];
    const Handler = handlerOf({ queue, queueType, retry: { attempts: 10 } }, (id: string) =>
      id === 'control' || outcomes.includes('sent republish') ? undefined : retryAfter(300),
    );
    const app = await startApp({ providers: [Handler], settle: { republishTimeout: '2s' } });
    app.app
      .get(SettlementEvents)
      .subscribe(({ status, decision }) => outcomes.push(`${status} ${decision.kind}`));
    await broker.send(queue, 'waits');
    await until(() => outcomes.includes('republishFailed republish'));
    const lines = app.log.matching(new RegExp(name.replaceAll('.', '\\.')), ['error']);
    expect(lines.join()).toMatch(/inequivalent/);
    await broker.delete(name);
    await broker.send(queue, 'control');
    await until(() => outcomes.filter((each) => each === 'sent ack').length === 2);
    expect(outcomes.filter((each) => each === 'sent republish')).toHaveLength(1);
    expect(app.registry.get(Handler, 'handle').state).toBe('consuming');
    expect(await broker.consumers(queue)).toBe(1);
    await broker.waitForReady(queue, 0);
  });
});
