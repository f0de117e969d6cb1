import { describe, expect, it } from 'vitest';
import {
  ack,
  drop,
  failureMarkOf,
  type Outcome,
  retry,
  retryAfter,
  workOf,
} from '../../../lib/model/outcome';
import {
  type FixedPolicy,
  isErrorRule,
  isFailurePolicy,
  on,
  outcomeOfPolicy,
  policyName,
} from '../../../lib/model/policy';
import { oddValues } from '../fixtures';

const error = new Error('the bank is closed');
const again = false;
const firstTime = true;

describe('outcomeOfPolicy', () => {
  it.each<[FixedPolicy, boolean, Outcome['kind'], string]>([
    ['drop', firstTime, 'drop', 'drop'],
    ['drop', again, 'drop', 'drop'],
    ['skip', firstTime, 'ack', 'skip'],
    ['retry', again, 'retry', 'retry'],
    ['retryAfter', again, 'retryAfter', 'retryAfter'],
    ['failFast', firstTime, 'retry', 'failFast'],
    ['failFast', again, 'retry', 'failFast'],
    ['failFastOnce', firstTime, 'retry', 'failFastOnce'],
    ['failFastOnce', again, 'drop', 'drop'],
  ])('%s (first time: %s) becomes %s with policy %s', (policy, first, kind, decided) => {
    const outcome = outcomeOfPolicy(policy, 'panic', error, first);
    expect(outcome.kind).toBe(kind);
    expect(failureMarkOf(outcome)).toEqual({ policy: decided, cause: 'panic', error });
  });

  it.each<[Outcome, string]>([
    [ack(), 'skip'],
    [drop('no such account'), 'drop'],
    [retry(), 'retry'],
    [retryAfter('7s'), 'retryAfter'],
  ])('an outcome given as a policy is itself: %o', (policy, decided) => {
    const outcome = outcomeOfPolicy(policy, 'error', error, again);
    expect(outcome).toMatchObject({ kind: policy.kind, andAfter: policy.andAfter });
    expect(outcome.reason).toBe(policy.reason);
    expect(outcome.delay).toBe(policy.delay);
    expect(failureMarkOf(outcome)).toEqual({ policy: decided, cause: 'error', error });
  });

  it('keeps the callbacks of an outcome given as a policy and leaves it unmarked', () => {
    const policy = drop().andAfter(() => 'called');
    const outcome = outcomeOfPolicy(policy, 'error', error, again);
    expect(workOf(outcome)).toHaveLength(1);
    expect(failureMarkOf(policy)).toBeUndefined();
  });

  it('marks with any thrown value, also undefined', () => {
    expect(failureMarkOf(outcomeOfPolicy('drop', 'error', undefined, again))).toEqual({
      policy: 'drop',
      cause: 'error',
      error: undefined,
    });
  });
});

describe('isFailurePolicy', () => {
  it.each(['failFast', 'failFastOnce', 'drop', 'skip', 'retry', 'retryAfter', ack(), drop('x')])(
    'accepts %o',
    (value) => {
      expect(isFailurePolicy(value)).toBe(true);
    },
  );

  it.each([
    'ack',
    'failfast',
    'Drop',
    'constructor',
    '',
    ['drop'],
    drop,
    { kind: 'drop' },
    on(Error, 'drop'),
  ])('rejects %o', (value) => {
    expect(isFailurePolicy(value)).toBe(false);
  });

  it('accepts a function of the error, but no class and no outcome function', () => {
    class BankTimeout extends Error {}
    class Refusal {}
    expect(isFailurePolicy(() => drop('x'))).toBe(true);
    for (const value of [BankTimeout, Refusal, Error, drop, retryAfter]) {
      expect(isFailurePolicy(value)).toBe(false);
    }
  });

  it.each(oddValues)('accepts %s only if it is a function', (_name, make) => {
    const value = make();
    expect(isFailurePolicy(value)).toBe(typeof value === 'function');
  });
});

describe('policyName', () => {
  it('is the policy itself, or the equivalent of an outcome', () => {
    expect(policyName('failFastOnce')).toBe('failFastOnce');
    expect(policyName(ack())).toBe('skip');
    expect(policyName(retryAfter(5))).toBe('retryAfter');
  });
});

describe('on', () => {
  it('returns a frozen rule', () => {
    class BankTimeout extends Error {}
    const rule = on(BankTimeout, 'retryAfter');
    expect(rule).toEqual({ match: BankTimeout, policy: 'retryAfter' });
    expect(Object.isFrozen(rule)).toBe(true);
    expect(isErrorRule(rule)).toBe(true);
  });

  it.each(['drop', drop(), Error, [Error, 'drop'], { match: Error }, { policy: 'drop' }])(
    'differs from %o',
    (value) => {
      expect(isErrorRule(value)).toBe(false);
    },
  );
});
