import { describe, expect, it, vi } from 'vitest';
import { type Backoff, DEFAULT_BACKOFF, fixed, steps } from '../../../lib/model/backoff';
import { LONGEST_DELAY } from '../../../lib/model/duration';
import {
  ack,
  drop,
  markFailure,
  type Outcome,
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
  return { said: verdictOf(outcome, subscription, attempt, refused), refused };
}

function bySpoken(policy: FixedPolicy): Outcome {
  return outcomeOfPolicy(policy, 'timeout', new Error('x'), true);
}

describe('what the handler says', () => {
  it.each<[Outcome, Verdict]>([
    [ack(), { kind: 'ack' }],
    [drop('why'), { kind: 'drop' }],
    [retry(), { kind: 'retry' }],
    [retryAfter('5s'), { kind: 'retryAfter', delayMs: 5_000, backoff: false }],
    [retryAfter(), { kind: 'retryAfter', delayMs: 111, backoff: true }],
  ])('%o', (outcome, expected) => {
    const { said, refused } = verdict(outcome);
    expect(said).toEqual(expected);
    expect(refused).not.toHaveBeenCalled();
  });
});

describe('what a policy says', () => {
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
  ])('%o', (policy, expected) => {
    expect(verdict(bySpoken(policy)).said).toEqual(expected);
  });
});

it('failFastOnce that nobody has decided is failFast: the delivery is not lost', () => {
  const failure = { policy: 'failFastOnce', cause: 'panic', error: undefined } as const;
  expect(verdict(markFailure(retry(), failure)).said).toEqual({
    policy: 'failFast',
    cause: 'panic',
  });
});

describe('the delay', () => {
  it.each<[unknown, number]>([
    [0, 0],
    [0.4, 1],
    [1.5, 2],
    [2 ** 31, 2 ** 31],
    ['1.1s', 1_100],
    [LONGEST_DELAY, LONGEST_DELAY],
    ['49d', LONGEST_DELAY],
  ])('of retryAfter(%o) is %i ms', (delay, delayMs) => {
    const { said, refused } = verdict(retryAfter(delay as number));
    expect(said).toEqual({ kind: 'retryAfter', delayMs, backoff: false });
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
  ])('of retryAfter(%o) is refused, and the backoff takes its place', (delay) => {
    for (const outcome of [retryAfter(delay as number), bySpoken(retryAfter(delay as number))]) {
      const { said, refused } = verdict(outcome, 2);
      expect(said).toMatchObject({ delayMs: 222, backoff: true });
      expect(refused).toHaveBeenCalledExactlyOnceWith(delay, 'outcome');
    }
  });

  it('of attempt n is the n-th of the backoff', () => {
    const delays = [1, 2, 3, 4].map((attempt) => verdict(retryAfter(), attempt).said);
    expect(delays).toMatchObject([111, 222, 333, 333].map((delayMs) => ({ delayMs })));
  });

  it('without a declared backoff is the default’s', () => {
    const said = verdictOf(retryAfter(), aSubscription(), 3, () => {});
    expect(said).toMatchObject({ delayMs: 4_000, backoff: true });
  });
});

describe('on a queue that the server names', () => {
  it.each([retryAfter('5s'), retryAfter(), bySpoken('retryAfter')])(
    'nothing waits, since it would outlive the queue: %o comes again at once',
    (outcome) => {
      const refused = vi.fn();
      const subscription = normalize('Billing.charge', { exchange: 'orders' });
      expect(verdictOf(outcome, subscription, 1, refused)).toMatchObject({ delayMs: 0 });
      expect(refused).toHaveBeenCalledExactlyOnceWith(outcome.delay, 'serverNamed');
    },
  );
});

describe('a backoff of the user’s own', () => {
  it('is asked as a method of its object', () => {
    class Own {
      readonly base = 50;
      delay(attempt: number): number {
        return this.base * attempt;
      }
    }
    expect(verdict(retryAfter(), 3, new Own()).said).toMatchObject({ delayMs: 150 });
  });

  it.each<[unknown, number]>([
    [0, 0],
    [0.2, 1],
    [1_000.5, 1_001],
    [LONGEST_DELAY + 1, LONGEST_DELAY],
    [1e15, LONGEST_DELAY],
    [Number.POSITIVE_INFINITY, LONGEST_DELAY],
  ])('that answers %d makes %i ms', (value, delayMs) => {
    const { said, refused } = verdict(retryAfter(), 1, { delay: () => value as number });
    expect(said).toEqual({ kind: 'retryAfter', delayMs, backoff: true });
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
  ])('that answers %o is refused, and the default takes its place', (value) => {
    const { said, refused } = verdict(retryAfter(), 2, { delay: () => value as number });
    expect(said).toEqual({
      kind: 'retryAfter',
      delayMs: DEFAULT_BACKOFF.delay(2),
      backoff: true,
    });
    expect(refused).toHaveBeenCalledExactlyOnceWith(value, 'backoff');
  });

  it('that answers with a promise is refused: nobody waits for it', () => {
    const { said, refused } = verdict(retryAfter(), 1, { delay: (async () => 5) as never });
    expect(said).toMatchObject({ delayMs: 1_000 });
    expect(refused).toHaveBeenCalledOnce();
  });

  it.each(oddValues)('that throws %s is refused with it', (_name, make) => {
    const thrown = make();
    const { said, refused } = verdict(retryAfter(), 1, {
      delay: () => {
        throw thrown;
      },
    });
    expect(said).toMatchObject({ delayMs: 1_000, backoff: true });
    expect(refused).toHaveBeenCalledOnce();
    expect(refused.mock.calls[0]?.[1]).toBe('backoff');
    expect(Object.is(refused.mock.calls[0]?.[0], thrown)).toBe(true);
  });

  it('is not asked for an outcome that has its own delay, nor for others', () => {
    const delay = vi.fn(() => 5);
    for (const outcome of [
      retryAfter('5s'),
      ack(),
      retry(),
      bySpoken('drop'),
      bySpoken('failFast'),
    ]) {
      verdict(outcome, 1, { delay });
    }
    expect(delay).not.toHaveBeenCalled();
    verdict(retryAfter(), 1, fixed(5));
  });

  it('and a refused delay of the handler’s are both told of', () => {
    const { said, refused } = verdict(retryAfter(-1), 1, { delay: () => -2 });
    expect(said).toMatchObject({ delayMs: 1_000 });
    expect(refused.mock.calls).toEqual([
      [-1, 'outcome'],
      [-2, 'backoff'],
    ]);
  });
});

describe('a queue that the server names', () => {
  it.each([retryAfter('5s'), retryAfter()])('has no delay: %o comes again at once', (outcome) => {
    const refused = vi.fn<(value: unknown, source: DelaySource) => void>();
    const { queue: _queue, ...named } = aSubscription({});
    const subscription = { ...named, queue: undefined };
    expect(verdictOf(outcome, subscription, 1, refused)).toEqual({
      kind: 'retryAfter',
      delayMs: 0,
      backoff: false,
    });
    expect(refused).toHaveBeenCalledWith(outcome.delay, 'serverNamed');
  });
});
