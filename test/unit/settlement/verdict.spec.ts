import { describe, expect, it, vi } from 'vitest';
import { type Backoff, DEFAULT_BACKOFF, fixed, steps } from '../../../lib/model/backoff';
import { LONGEST_DELAY } from '../../../lib/model/duration';
import {
  ack,
  drop,
  markFailure,
  type Outcome,
  pauseFor,
  retry,
  retryAfter,
} from '../../../lib/model/outcome';
import { type FixedPolicy, outcomeOfPolicy } from '../../../lib/model/policy';
import type { Verdict } from '../../../lib/settlement/decide';
import { type DelaySource, verdictOf } from '../../../lib/settlement/verdict';
import { normalize } from '../../../lib/subscribe/normalize';
import { aSubscription, oddValues } from '../fixtures';

const BACKOFF = steps([111, 222, 333]);

function verdict(outcome: Outcome, attempt = 1, backoff: Backoff = BACKOFF) {
  const refused = vi.fn<(value: unknown, source: DelaySource) => void>();
  const subscription = aSubscription({ retry: { attempts: 9, backoff } });
  return { result: verdictOf(outcome, subscription, attempt, refused), refused };
}

function failedWith(policy: FixedPolicy): Outcome {
  return outcomeOfPolicy(policy, 'timeout', new Error('x'), true);
}

describe('an outcome of the handler', () => {
  it.each<[Outcome, Verdict]>([
    [ack(), { kind: 'ack' }],
    [drop('why'), { kind: 'drop' }],
    [retry(), { kind: 'retry' }],
    [retryAfter('5s'), { kind: 'retryAfter', delayMs: 5_000, backoff: false }],
    [retryAfter(), { kind: 'retryAfter', delayMs: 111, backoff: true }],
    [pauseFor('30s'), { kind: 'pauseFor', pauseMs: 30_000 }],
    [pauseFor(0), { kind: 'pauseFor', pauseMs: 100 }],
  ])('%o', (outcome, expected) => {
    const { result, refused } = verdict(outcome);
    expect(result).toEqual(expected);
    expect(refused).not.toHaveBeenCalled();
  });
});

describe('an outcome of a policy', () => {
  const cause = 'timeout';

  it.each<[FixedPolicy, Verdict]>([
    ['failFast', { policy: 'failFast', cause }],
    ['failFastOnce', { policy: 'failFast', cause }],
    ['drop', { policy: 'drop', cause }],
    ['skip', { policy: 'skip', cause }],
    ['retry', { policy: 'retry', cause }],
    ['retryAfter', { policy: 'retryAfter', cause, delayMs: 111, backoff: true }],
    [ack(), { policy: 'skip', cause }],
    [drop('why'), { policy: 'drop', cause }],
    [retry(), { policy: 'retry', cause }],
    [retryAfter('5s'), { policy: 'retryAfter', cause, delayMs: 5_000, backoff: false }],
    [retryAfter(), { policy: 'retryAfter', cause, delayMs: 111, backoff: true }],
    [pauseFor('1m'), { policy: 'pauseFor', cause, pauseMs: 60_000 }],
  ])('%o', (policy, expected) => {
    expect(verdict(failedWith(policy)).result).toEqual(expected);
  });
});

it('failFastOnce is failFast on the first attempt', () => {
  const failure = { policy: 'failFastOnce', cause: 'panic', error: undefined } as const;
  expect(verdict(markFailure(retry(), failure)).result).toEqual({
    policy: 'failFast',
    cause: 'panic',
  });
});

describe('a delay', () => {
  it.each<[unknown, number]>([
    [0, 0],
    [0.4, 1],
    [1.5, 2],
    [2 ** 31, 2 ** 31],
    ['1.1s', 1_100],
    [LONGEST_DELAY, LONGEST_DELAY],
    ['49d', LONGEST_DELAY],
  ])('of retryAfter(%o) is %i ms', (delay, delayMs) => {
    const { result, refused } = verdict(retryAfter(delay as number));
    expect(result).toEqual({ kind: 'retryAfter', delayMs, backoff: false });
    expect(refused).not.toHaveBeenCalled();
  });

  it.each<[unknown]>([
    [-1],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [2 ** 32],
    [1e15],
    ['500'],
    ['soon'],
    [null],
    [{}],
    [5n],
  ])('of retryAfter(%o) is refused and replaced by the backoff', (delay) => {
    for (const outcome of [retryAfter(delay as number), failedWith(retryAfter(delay as number))]) {
      const { result, refused } = verdict(outcome, 2);
      expect(result).toMatchObject({ delayMs: 222, backoff: true });
      expect(refused).toHaveBeenCalledExactlyOnceWith(delay, 'outcome');
    }
  });

  it('without a value is that of the backoff for the attempt', () => {
    const delays = [1, 2, 3, 4].map((attempt) => verdict(retryAfter(), attempt).result);
    expect(delays).toMatchObject([111, 222, 333, 333].map((delayMs) => ({ delayMs })));
  });

  it('without a configured backoff is that of the default', () => {
    const result = verdictOf(retryAfter(), aSubscription(), 3, () => {});
    expect(result).toMatchObject({ delayMs: 4_000, backoff: true });
  });
});

describe('on a server-named queue', () => {
  it.each([retryAfter('5s'), retryAfter(), failedWith('retryAfter')])(
    '%o has no delay, since a waiting message would outlive the queue',
    (outcome) => {
      const refused = vi.fn();
      const subscription = normalize('Billing.charge', { exchange: 'orders' });
      expect(verdictOf(outcome, subscription, 1, refused)).toMatchObject({ delayMs: 0 });
      expect(refused).toHaveBeenCalledExactlyOnceWith(outcome.delay, 'serverNamed');
    },
  );
});

describe('a custom backoff', () => {
  it('is called as a method of its object', () => {
    class Own {
      readonly base = 50;
      delay(attempt: number): number {
        return this.base * attempt;
      }
    }
    expect(verdict(retryAfter(), 3, new Own()).result).toMatchObject({ delayMs: 150 });
  });

  it.each<[unknown, number]>([
    [0, 0],
    [0.2, 1],
    [1_000.5, 1_001],
    [LONGEST_DELAY + 1, LONGEST_DELAY],
    [1e15, LONGEST_DELAY],
    [Number.POSITIVE_INFINITY, LONGEST_DELAY],
  ])('that returns %d gives %i ms', (value, delayMs) => {
    const { result, refused } = verdict(retryAfter(), 1, { delay: () => value as number });
    expect(result).toEqual({ kind: 'retryAfter', delayMs, backoff: true });
    expect(refused).not.toHaveBeenCalled();
  });

  it.each<[unknown]>([
    [-1],
    [Number.NaN],
    [Number.NEGATIVE_INFINITY],
    ['5s'],
    [undefined],
    [null],
    [{}],
    [5n],
  ])('that returns %o is refused and replaced by the default', (value) => {
    const { result, refused } = verdict(retryAfter(), 2, { delay: () => value as number });
    expect(result).toEqual({
      kind: 'retryAfter',
      delayMs: DEFAULT_BACKOFF.delay(2),
      backoff: true,
    });
    expect(refused).toHaveBeenCalledExactlyOnceWith(value, 'backoff');
  });

  it('that returns a promise is refused', () => {
    const { result, refused } = verdict(retryAfter(), 1, { delay: (async () => 5) as never });
    expect(result).toMatchObject({ delayMs: 1_000 });
    expect(refused).toHaveBeenCalledOnce();
  });

  it.each(oddValues)('that throws %s is refused with that value', (_name, make) => {
    const thrown = make();
    const { result, refused } = verdict(retryAfter(), 1, {
      delay: () => {
        throw thrown;
      },
    });
    expect(result).toMatchObject({ delayMs: 1_000, backoff: true });
    expect(refused).toHaveBeenCalledOnce();
    expect(refused.mock.calls[0]?.[1]).toBe('backoff');
    expect(Object.is(refused.mock.calls[0]?.[0], thrown)).toBe(true);
  });

  it('is called only for retryAfter without a delay', () => {
    const delay = vi.fn(() => 5);
    for (const outcome of [
      retryAfter('5s'),
      ack(),
      retry(),
      failedWith('drop'),
      failedWith('failFast'),
    ]) {
      verdict(outcome, 1, { delay });
    }
    expect(delay).not.toHaveBeenCalled();
    verdict(retryAfter(), 1, fixed(5));
  });

  it('is reported together with an invalid delay of the handler', () => {
    const { result, refused } = verdict(retryAfter(-1), 1, { delay: () => -2 });
    expect(result).toMatchObject({ delayMs: 1_000 });
    expect(refused.mock.calls).toEqual([
      [-1, 'outcome'],
      [-2, 'backoff'],
    ]);
  });
});

describe('a pause that is not valid', () => {
  it.each([-1, Number.NaN, LONGEST_DELAY + 1, 'soon', undefined])(
    'takes the backoff: %o',
    (value) => {
      const { result, refused } = verdict(pauseFor(value as never), 2);
      expect(result).toEqual({ kind: 'pauseFor', pauseMs: 222 });
      expect(refused).toHaveBeenCalledExactlyOnceWith(value, 'pause');
    },
  );
});
