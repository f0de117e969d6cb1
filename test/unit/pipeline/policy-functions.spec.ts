import { describe, expect, it, vi } from 'vitest';
import type { OnError, SubscribeOptions } from '../../../lib/model/options';
import { ack, drop, failureMarkOf, type Outcome, retryAfter } from '../../../lib/model/outcome';
import { on } from '../../../lib/model/policy';
import { failureToOutcome } from '../../../lib/pipeline/failure-policy';
import { HandlerFailure } from '../../../lib/pipeline/handler-failure';
import { aDelivery, aLog, oddValues, RecordingLogger } from '../fixtures';

class RateLimited extends Error {
  constructor(readonly waitMs: number) {
    super('too many requests');
  }
}

class Declined extends Error {}

function apply(options: SubscribeOptions, failed: HandlerFailure) {
  const logger = new RecordingLogger();
  const delivery = aDelivery(options);
  delivery.payload = {};
  const outcome = failureToOutcome(aLog(logger))(failed, delivery);
  return { outcome, delivery, lines: logger.texts('error') };
}

const thrown = (error: unknown): HandlerFailure => new HandlerFailure('body', error);
const onErrorOutcome = (onError: OnError, error: unknown): Outcome =>
  apply({ onError }, thrown(error)).outcome;

describe('a policy function', () => {
  it('of onError receives the error and the delivery and returns the outcome', () => {
    const policy = vi.fn(() => retryAfter('7s'));
    const error = new Error('x');
    const { outcome, delivery, lines } = apply({ onError: policy }, thrown(error));
    expect(policy).toHaveBeenCalledExactlyOnceWith(error, delivery);
    expect(outcome).toMatchObject({ kind: 'retryAfter', delay: '7s' });
    expect(failureMarkOf(outcome)).toEqual({ policy: 'retryAfter', cause: 'error', error });
    expect(lines).toEqual([]);
  });

  it("of a rule receives an error of the rule's class", () => {
    const rule = on(RateLimited, (error) => retryAfter(error.waitMs));
    expect(onErrorOutcome([rule], new RateLimited(250)).delay).toBe(250);
    expect(onErrorOutcome([rule], new Error('x')).kind).toBe('drop');
  });

  it('of a rule receives the matching cause, and the settlement keeps the thrown error', () => {
    const error = new Error('payment failed', { cause: new RateLimited(250) });
    const outcome = onErrorOutcome([on(RateLimited, ({ waitMs }) => retryAfter(waitMs))], error);
    expect(outcome.delay).toBe(250);
    expect(failureMarkOf(outcome)?.error).toBe(error);
  });

  it('of a rule with several classes or a type predicate is typed by them', () => {
    const several = on([RateLimited, Declined], (error) =>
      error instanceof RateLimited ? retryAfter(error.waitMs) : drop(error.message),
    );
    expect(onErrorOutcome([several], new Declined('no cover')).reason).toBe('no cover');
    const guarded = on(
      (error): error is RateLimited => error instanceof RateLimited,
      (error) => retryAfter(error.waitMs),
    );
    expect(onErrorOutcome([guarded], new RateLimited(30)).delay).toBe(30);
  });

  it('works for onPanic and onInvalidPayload', () => {
    const onPanic = (error: unknown): Outcome => drop(`bug: ${String(error)}`);
    expect(apply({ onPanic }, thrown(new TypeError('x'))).outcome.reason).toBe('bug: TypeError: x');
    const onInvalidPayload = (): Outcome => ack();
    const decoding = new HandlerFailure('decode', new Error('x'));
    expect(apply({ onInvalidPayload }, decoding).outcome.kind).toBe('ack');
  });

  it('can return the name of a policy', () => {
    const { outcome } = apply({ onError: () => 'failFast' }, thrown(new Error('x')));
    expect(failureMarkOf(outcome)).toMatchObject({ policy: 'failFast', cause: 'error' });
  });

  it('keeps the callbacks of its outcome', () => {
    const work = vi.fn();
    expect(onErrorOutcome(() => ack().andAfter(work), new Error('x')).kind).toBe('ack');
  });
});

describe('a policy function that fails', () => {
  const failing = [
    [
      'throws',
      () => {
        throw new Error('no such table');
      },
      /policy.*threw/,
    ],
    ['returns nothing', () => undefined, /found undefined/],
    ['returns another object', () => ({ kind: 'drop' }), /found \{ kind: 'drop' \}/],
    ['returns an unknown name', () => 'ignore', /found 'ignore'/],
    ['returns another function', () => () => ack(), /found \[Function/],
    ['returns a promise', async () => ack(), /policy.*threw/],
    ['returns a promise that rejects', () => Promise.reject(new Error('late')), /policy.*threw/],
  ] as const;

  it.each(failing)('(%s) is logged, and the default applies', async (_what, policy, line) => {
    const cases: [SubscribeOptions, HandlerFailure, string][] = [
      [{ onError: policy as never }, thrown(new Error('x')), 'drop'],
      [{ onPanic: policy as never }, thrown(new TypeError('x')), 'failFast'],
      [{ onInvalidPayload: policy as never }, new HandlerFailure('decode', new Error('x')), 'drop'],
    ];
    for (const [options, failed, expected] of cases) {
      const { outcome, lines } = apply(options, failed);
      expect(failureMarkOf(outcome)?.policy).toBe(expected);
      expect(lines).toEqual([expect.stringMatching(line)]);
      expect(lines[0]).toContain('[policy-failed]');
    }
    // An unhandled rejection would fail the run.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('of a rule falls back to the last policy', () => {
    const rule = on(RateLimited, () => undefined as never);
    expect(onErrorOutcome([rule, 'skip'], new RateLimited(1)).kind).toBe('ack');
    expect(onErrorOutcome([rule], new RateLimited(1)).kind).toBe('drop');
    const { outcome, lines } = apply(
      { onError: [rule, () => undefined as never] },
      thrown(new RateLimited(1)),
    );
    expect(outcome.kind).toBe('drop');
    expect(lines).toHaveLength(2);
  });

  it.each(oddValues)('tolerates %s', (_name, make) => {
    const throwing = (): never => {
      throw make();
    };
    expect(onErrorOutcome(throwing, new Error('x')).kind).toBe('drop');
    expect(onErrorOutcome((() => make()) as never, new Error('x')).kind).toBe('drop');
  });
});

describe('an AggregateError', () => {
  it('matches by its errors, also nested ones and their causes', () => {
    const rules = [on(RateLimited, ({ waitMs }) => retryAfter(waitMs)), 'skip'] as const;
    const several = new AggregateError([new Error('x'), new RateLimited(40)]);
    expect(onErrorOutcome(rules, several).delay).toBe(40);
    expect(onErrorOutcome(rules, new Error('y', { cause: several })).delay).toBe(40);
    expect(onErrorOutcome(rules, new AggregateError([several])).delay).toBe(40);
    const cause = new AggregateError([new Error('z', { cause: new RateLimited(50) })]);
    expect(onErrorOutcome(rules, cause).delay).toBe(50);
    expect(onErrorOutcome(rules, new AggregateError([new Error('x')])).kind).toBe('ack');
  });

  it('of Promise.any matches', async () => {
    const error = await Promise.any([Promise.reject(new RateLimited(60))]).catch((e) => e);
    expect(onErrorOutcome([on(RateLimited, 'retryAfter'), 'skip'], error).kind).toBe('retryAfter');
  });

  it('can be huge, circular or unreadable', () => {
    const circular = new AggregateError([]);
    circular.errors.push(circular, new Error('x', { cause: circular }));
    const many = new AggregateError(Array.from({ length: 100_000 }, () => new Error('x')));
    const unreadable = Object.defineProperty(new AggregateError([]), 'errors', {
      get: () => {
        throw new Error('unreadable');
      },
    });
    const predicate = vi.fn(() => false);
    for (const error of [circular, many, unreadable]) {
      expect(onErrorOutcome([on(predicate, 'retry'), 'skip'], error).kind).toBe('ack');
    }
    expect(predicate.mock.calls.length).toBeLessThan(100);
  });
});
