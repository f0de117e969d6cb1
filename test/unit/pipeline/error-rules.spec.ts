import { describe, expect, it, vi } from 'vitest';
import type { SubscribeOptions } from '../../../lib/model/options';
import { drop } from '../../../lib/model/outcome';
import { type ErrorMatch, type FailurePolicy, on } from '../../../lib/model/policy';
import { policyFor } from '../../../lib/pipeline/error-rules';
import { aDelivery, aSubscription, oddValues } from '../fixtures';

class BankError extends Error {}
class BankTimeout extends BankError {}
class CardDeclined extends Error {}
/** A class that is thrown but does not extend Error. */
class Refusal {
  constructor(readonly why = '') {}
}

const delivery = aDelivery();

function policyOf(
  onError: NonNullable<SubscribeOptions['onError']>,
  error: unknown,
  failed: (error: unknown) => void = () => {},
): FailurePolicy {
  return policyFor(aSubscription({ onError }).onError, error, delivery, failed).policy;
}

function matches(match: ErrorMatch, error: unknown): boolean {
  return policyOf([on(match, 'retry'), 'skip'], error) === 'retry';
}

describe('onError rules', () => {
  it('apply in order: the first match wins', () => {
    const rules = [
      on(BankTimeout, 'retryAfter'),
      on(BankError, 'retry'),
      on(Error, 'skip'),
      'failFast',
    ] as const;
    expect(policyOf(rules, new BankTimeout())).toBe('retryAfter');
    expect(policyOf(rules, new BankError())).toBe('retry');
    expect(policyOf(rules, new CardDeclined())).toBe('skip');
    expect(policyOf(rules, 'not an error')).toBe('failFast');
  });

  it('stop at the first match', () => {
    const second = vi.fn(() => true);
    policyOf([on(() => true, 'retry'), on(second, 'drop')], new Error('x'));
    expect(second).not.toHaveBeenCalled();
  });

  it.each([async () => true, () => Promise.reject(new Error('late'))])(
    'treat a predicate that returns a promise as one that threw: %o',
    async (predicate) => {
      const failed = vi.fn();
      const rules = [on(predicate as never, 'retry'), 'skip'] as const;
      expect(policyOf(rules, new Error('x'), failed)).toBe('skip');
      expect(failed).toHaveBeenCalledExactlyOnceWith(expect.any(TypeError));
      // An unhandled rejection would fail the run.
      await new Promise((resolve) => setImmediate(resolve));
    },
  );

  it('end with the last policy, or with drop', () => {
    expect(policyOf([on(BankError, 'retry'), 'skip'], new Error('x'))).toBe('skip');
    expect(policyOf([on(BankError, 'retry')], new Error('x'))).toBe('drop');
    expect(policyOf([] as never, new Error('x'))).toBe('drop');
  });

  it('accept an outcome as a policy', () => {
    const outcome = drop('declined').andAfter(() => {});
    expect(policyOf([on(CardDeclined, outcome)], new CardDeclined())).toBe(outcome);
  });
});

describe('a class', () => {
  it('matches its instances and those of subclasses', () => {
    expect(matches(BankError, new BankTimeout())).toBe(true);
    expect(matches(BankTimeout, new BankError())).toBe(false);
    expect(matches(Error, new BankError())).toBe(true);
    expect(matches(DOMException, AbortSignal.abort().reason)).toBe(true);
    expect(matches(AggregateError, new AggregateError([]))).toBe(true);
  });

  it('need not be an error class', () => {
    expect(matches(Refusal, new Refusal())).toBe(true);
    expect(matches(Refusal, new Error('x'))).toBe(false);
  });

  it('can be anonymous, empty or a constructor function', () => {
    const Nameless = class extends Error {};
    const Plain = class {};
    const Old = Object.assign(function Old(this: object) {} as unknown as typeof BankError, {});
    Object.setPrototypeOf(Old.prototype, Error.prototype);
    expect(matches(Nameless, new Nameless())).toBe(true);
    expect(matches(Plain, new Plain())).toBe(true);
    expect(matches(Old, new Old())).toBe(true);
    expect(matches(Old, new Error('x'))).toBe(false);
  });

  it('is never called as a predicate', () => {
    const failed = vi.fn();
    expect(policyOf([on(Refusal, 'retry'), on(BankError, 'retry'), 'skip'], 'x', failed)).toBe(
      'skip',
    );
    expect(failed).not.toHaveBeenCalled();
  });
});

describe('a list of classes', () => {
  it('matches instances of any of them', () => {
    expect(matches([CardDeclined, BankTimeout], new BankTimeout())).toBe(true);
    expect(matches([CardDeclined, BankTimeout], new BankError())).toBe(false);
    expect(matches([], new BankError())).toBe(false);
  });
});

describe('a predicate', () => {
  it('receives the error and the delivery', () => {
    const predicate = vi.fn(() => true);
    const error = new Error('x');
    expect(matches(predicate, error)).toBe(true);
    expect(predicate).toHaveBeenCalledExactlyOnceWith(error, delivery);
  });

  it('is also called with values that are not errors', () => {
    expect(matches((error) => error === undefined, undefined)).toBe(true);
    expect(matches((error) => error === 'x', 'x')).toBe(true);
  });

  it('matches only by returning true', () => {
    for (const answer of [1, 'yes', {}, Promise.resolve(true), undefined]) {
      expect(matches((() => answer) as never, new Error('x'))).toBe(false);
    }
  });

  it('can be a function or a method, with or without a prototype', () => {
    const rules = {
      isTimeout(error: unknown): boolean {
        return error instanceof BankTimeout;
      },
    };
    expect(matches(rules.isTimeout, new BankTimeout())).toBe(true);
    expect(
      matches(function isTimeout(error: unknown) {
        return error instanceof BankTimeout;
      }, new BankTimeout()),
    ).toBe(true);
  });

  it.each(oddValues)('that throws %s is reported, and the next rule applies', (_name, make) => {
    const thrown = make();
    const failed = vi.fn();
    const rule = on(() => {
      throw thrown;
    }, 'failFast');
    expect(policyOf([rule, on(BankError, 'retry'), 'skip'], new BankError(), failed)).toBe('retry');
    expect(failed).toHaveBeenCalledOnce();
    expect(Object.is(failed.mock.calls[0]?.[0], thrown)).toBe(true);
  });
});

describe('the chain of causes', () => {
  it('is matched by classes and predicates', () => {
    const error = new Error('outer', {
      cause: new Error('middle', { cause: new BankTimeout('inner') }),
    });
    expect(matches(BankError, error)).toBe(true);
    expect(matches([CardDeclined, BankError], error)).toBe(true);
    expect(matches((link) => link instanceof Error && link.message === 'inner', error)).toBe(true);
  });

  it('can contain values that are not errors', () => {
    expect(matches(BankError, { cause: new BankError() })).toBe(true);
    expect(
      matches((link) => link === 'ECONNREFUSED', new Error('x', { cause: 'ECONNREFUSED' })),
    ).toBe(true);
    expect(matches((link) => link === null, new Error('x', { cause: null }))).toBe(true);
  });

  it('is searched rule by rule: an earlier rule that matches a cause wins', () => {
    const error = new CardDeclined('x', { cause: new BankTimeout() });
    expect(policyOf([on(BankTimeout, 'retry'), on(CardDeclined, 'skip')], error)).toBe('retry');
  });

  it('can be circular', () => {
    const error: Error & { cause?: unknown } = new Error('x');
    error.cause = new Error('y', { cause: error });
    const predicate = vi.fn(() => false);
    expect(matches(predicate, error)).toBe(false);
    expect(predicate).toHaveBeenCalledTimes(2);
  });

  it('can be endless', () => {
    const endless = (): object => ({
      get cause() {
        return endless();
      },
    });
    const predicate = vi.fn(() => false);
    expect(matches(predicate, endless())).toBe(false);
    expect(predicate.mock.calls.length).toBeLessThan(100);
  });

  it('ends at an unreadable cause', () => {
    const error = Object.defineProperty(new BankError(), 'cause', {
      get: () => {
        throw new Error('unreadable');
      },
    });
    expect(matches(BankError, error)).toBe(true);
    expect(matches(CardDeclined, error)).toBe(false);
  });

  it.each(oddValues)('tolerates %s', (_name, make) => {
    expect(policyOf([on(CardDeclined, 'retry'), on([BankError], 'retry'), 'skip'], make())).toBe(
      'skip',
    );
    const wrapped = new Error('x', { cause: make() });
    expect(policyOf([on(CardDeclined, 'retry'), 'skip'], wrapped)).toBe('skip');
  });
});
