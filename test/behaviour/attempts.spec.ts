import { describe, expect, it } from 'vitest';
import { type Delivery, type Outcome, retry, retryAfter } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

const caps = [1, 2, 3, 10];
const ways: [name: string, way: (attempt: number) => Outcome][] = [
  ['retry()', () => retry()],
  ['retryAfter()', () => retryAfter(10)],
  ['both in turn', (attempt) => (attempt % 2 === 1 ? retry() : retryAfter(10))],
  ['both in pairs', (attempt) => (attempt % 4 < 2 ? retryAfter(10) : retry())],
];
const rows = caps.flatMap((cap) => ways.map(([name, way]) => [cap, name, way] as const));

describe.each(['classic', 'quorum'] as const)('attempts on a %s queue', async (queueType) => {
  const broker = await openBroker();

  function counting(queue: string, attempts: number, way: (attempt: number) => unknown) {
    const seen: Pick<Delivery, 'attempt' | 'isLastAttempt'>[] = [];
    const Handler = handlerOf(
      { queue, queueType, retry: { attempts }, deadLetter: `${queue}.dead` },
      (_payload, { attempt, isLastAttempt }) => {
        seen.push({ attempt, isLastAttempt });
        return way(attempt);
      },
    );
    return { seen, Handler };
  }

  const expected = (cap: number) =>
    Array.from({ length: cap }, (_, index) => ({
      attempt: index + 1,
      isLastAttempt: index + 1 === cap,
    }));

  it.each(rows)('run from 1 to %i and no further, by %s', async (cap, _name, way) => {
    const queue = unique('attempts');
    const { seen, Handler } = counting(queue, cap, way);
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, { id: 1 });
    const { properties } = await broker.take(`${queue}.dead`);
    expect(seen).toEqual(expected(cap));
    expect(properties.headers).toMatchObject({
      'x-settle-reason': 'attempts',
      'x-settle-attempts-made': cap,
    });
    await app.settled(cap);
    expect(app.settlements).toHaveLength(cap);
    expect(await broker.ready(queue)).toBe(0);
  });

  it.each([0, 1, 7])(
    'are not affected by an x-delivery-count of %i that a client sent',
    async (n) => {
      const queue = unique('count');
      const { seen, Handler } = counting(queue, 3, ways[2]![1]);
      await startApp({ providers: [Handler] });
      await broker.send(queue, { id: 1 }, { headers: { 'x-delivery-count': n } });
      await broker.take(`${queue}.dead`);
      expect(seen).toEqual(expected(3));
    },
  );

  it.each([0, 1, 7, -1, 'many', null])(
    'are not affected by an x-acquired-count of %o that a client sent',
    async (n) => {
      const queue = unique('acquired');
      const { seen, Handler } = counting(queue, 3, ways[0]![1]);
      await startApp({ providers: [Handler] });
      const headers = { 'x-acquired-count': n, 'x-delivery-count': n };
      await broker.send(queue, { id: 1 }, { headers });
      await broker.take(`${queue}.dead`);
      expect(seen).toEqual(expected(3));
    },
  );

  it('follow a changed retry.attempts after a restart, with the same queue', async () => {
    const queue = unique('changed');
    for (const cap of [3, 5, 2]) {
      const { seen, Handler } = counting(queue, cap, ways[2]![1]);
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, { id: 1 });
      await broker.take(`${queue}.dead`);
      expect(seen).toEqual(expected(cap));
      await app.close();
    }
  });

  it('are counted separately for concurrent messages', async () => {
    const queue = unique('apart');
    const attempts = new Map<number, number[]>();
    const Handler = handlerOf(
      { queue, queueType, prefetch: 5, retry: { attempts: 4 }, deadLetter: `${queue}.dead` },
      (id: number, { attempt }) => {
        attempts.set(id, [...(attempts.get(id) ?? []), attempt]);
        if (attempt > id % 4) return undefined;
        return id % 2 === 0 ? retry() : retryAfter(10);
      },
    );
    await startApp({ providers: [Handler] });
    for (let id = 0; id < 20; id += 1) await broker.send(queue, id);
    const runs = (id: number): number => (id % 4) + 1;
    await until(() => [...attempts].filter(([id, seen]) => seen.length >= runs(id)).length === 20);
    for (const [id, seen] of attempts) {
      expect([id, seen]).toEqual([id, [1, 2, 3, 4].slice(0, runs(id))]);
    }
    expect(await broker.ready(`${queue}.dead`)).toBe(0);
  });
});
