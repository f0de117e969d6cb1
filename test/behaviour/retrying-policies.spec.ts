import { describe, expect, it } from 'vitest';
import { fixed, on, Panic, retryAfter } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

class Busy extends Error {}

type Options = Partial<AcknowledgedOptions>;

// The options, the failure, and whether the handler runs.
const rows: [name: string, options: Options, body: () => unknown, runs: boolean][] = [
  ["onError 'retry'", { onError: 'retry' }, fail, true],
  ["onError 'retryAfter'", { onError: 'retryAfter' }, fail, true],
  ['onError retryAfter(5)', { onError: retryAfter(5) }, fail, true],
  ["a rule with 'retry'", { onError: [on(Busy, 'retry'), 'drop'] }, fail, true],
  ["a rule with 'retryAfter'", { onError: [on(Busy, 'retryAfter'), 'drop'] }, fail, true],
  [
    "onError 'retry' at a timeout",
    { onError: 'retry', timeout: 30 },
    () => new Promise(() => undefined),
    true,
  ],
  ["onPanic 'retry'", { onPanic: 'retry' }, panic, true],
  ["onPanic 'retryAfter'", { onPanic: 'retryAfter' }, panic, true],
  ["onInvalidPayload 'retry'", { onInvalidPayload: 'retry' }, () => undefined, false],
  ["onInvalidPayload 'retryAfter'", { onInvalidPayload: 'retryAfter' }, () => undefined, false],
];

function fail(): never {
  throw new Busy('busy');
}

function panic(): never {
  throw new Panic('a bug');
}

describe.each(['classic', 'quorum'] as const)('a policy on a %s queue', async (queueType) => {
  const broker = await openBroker();

  it.each(rows)('%s is counted and ends at retry.attempts', async (name, options, body, runs) => {
    const queue = unique('policy');
    const seen: number[] = [];
    const Handler = handlerOf(
      {
        queue,
        queueType,
        retry: { attempts: 3, backoff: fixed(10) },
        deadLetter: `${queue}.dead`,
        ...options,
      },
      (_payload, { attempt }) => {
        seen.push(attempt);
        return body();
      },
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, runs ? {} : Buffer.from('{bad'), { messageId: 'm1' });
    const { properties } = await broker.take(`${queue}.dead`);
    await app.settled(3);
    expect(app.settlements.map(({ attempt }) => attempt).sort()).toEqual([1, 2, 3]);
    expect(seen).toEqual(runs ? [1, 2, 3] : []);
    expect(properties.headers).toMatchObject({
      'x-settle-reason': 'attempts',
      'x-settle-attempts-made': 3,
    });
    expect(properties.headers).toHaveProperty('x-settle-error-message');
    const delayed = name.includes('retryAfter');
    const first = app.settlements.find(({ attempt }) => attempt === 1);
    const isCopy = delayed || queueType === 'classic';
    expect(first?.decision.kind).toBe(isCopy ? 'republish' : 'requeue');
    expect(app.log.matching(/\[dead-lettered\] message "m1"/, ['error'])).toHaveLength(1);
    expect(app.log.matching(/\[retrying\] message "m1"/, ['log'])).toHaveLength(2);
    expect(app.failed).toEqual([]);
    await until(async () => (await broker.ready(queue)) === 0);
  });

  it.each(['retry', 'retryAfter'] as const)(
    "onInvalidPayload '%s' without retry is refused",
    async (onInvalidPayload) => {
      const queue = unique('endless');
      const Handler = handlerOf({ queue, queueType, onInvalidPayload }, () => undefined);
      await expect(startApp({ providers: [Handler] })).rejects.toThrow(/Handler\.handle.*retry/);
      expect(await broker.ready(queue)).toBeUndefined();
    },
  );

  it("onError 'retry' without retry requeues, with one warning", async () => {
    const queue = unique('undeclared');
    let runs = 0;
    const Handler = handlerOf({ queue, queueType, onError: 'retry' }, () => {
      runs += 1;
      if (runs < 5) fail();
    });
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    await app.settled(5);
    expect(runs).toBe(5);
    expect(
      app.log.matching(/\[endless-retry\] retry\(\) without retry\.attempts/, ['warn']),
    ).toHaveLength(1);
  });

  it('a custom backoff that fails is replaced by the default one, with an error', async () => {
    const queue = unique('backoff');
    const asked: number[] = [];
    const backoff = {
      delay: (attempt: number): number => {
        asked.push(attempt);
        if (attempt === 1) throw new Error('no delay today');
        return Number.NaN;
      },
    };
    const at: number[] = [];
    const Handler = handlerOf(
      { queue, queueType, retry: { attempts: 2, backoff }, deadLetter: `${queue}.dead` },
      () => {
        at.push(Date.now());
        return retryAfter();
      },
    );
    const app = await startApp({ providers: [Handler] });
    asked.length = 0;
    await broker.send(queue, {});
    await broker.take(`${queue}.dead`);
    expect(asked[0]).toBe(1);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(1_000);
    expect(
      app.log.matching(/\[invalid-delay\].*retry\.backoff returned/, ['error']).length,
    ).toBeGreaterThan(0);
  });
});
