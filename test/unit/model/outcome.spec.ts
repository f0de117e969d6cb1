import { AsyncLocalStorage } from 'node:async_hooks';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import {
  ack,
  DONE,
  drop,
  failureMarkOf,
  isOutcome,
  markFailure,
  type Outcome,
  retry,
  retryAfter,
  workOf,
} from '../../../lib/model/outcome';
import type { Settlement } from '../../../lib/model/settlement';
import { oddValues } from '../fixtures';

const OUTCOME = Symbol.for('nestjs-settle.outcome');
const WORK = Symbol.for('nestjs-settle.outcome.work');
const settlement = { status: 'sent' } as Settlement;

const makers: readonly (readonly [string, () => Outcome])[] = [
  ['ack()', () => ack()],
  ['drop()', () => drop()],
  ["drop('why')", () => drop('why')],
  ['retry()', () => retry()],
  ['retryAfter()', () => retryAfter()],
  ["retryAfter('5s')", () => retryAfter('5s')],
];

function run(outcome: Outcome): unknown[] {
  return workOf(outcome).map((work) => work(settlement));
}

describe.each(makers)('%s', (_name, make) => {
  it('returns a new frozen plain object', () => {
    const outcome = make();
    expect(Object.isFrozen(outcome)).toBe(true);
    expect(Object.getPrototypeOf(outcome)).toBe(Object.prototype);
    expect(make()).not.toBe(outcome);
  });

  it("equals another call's result, as assertions compare them", () => {
    expect(make()).toEqual(make());
    expect(make()).toStrictEqual(make());
  });

  it('differs from the other outcomes', () => {
    for (const [, other] of makers) {
      if (other !== make) expect(make()).not.toEqual(other());
    }
  });

  it('is an outcome, also after andAfter', () => {
    expect(isOutcome(make())).toBe(true);
    expect(isOutcome(make().andAfter(() => {}))).toBe(true);
  });
});

describe('an outcome', () => {
  it('has a reason only if one was given, also an empty one', () => {
    expect(drop('why').reason).toBe('why');
    expect(drop('').reason).toBe('');
    expect(Object.keys(drop())).not.toContain('reason');
  });

  it('has a delay only if one was given, also 0', () => {
    expect(retryAfter('5s').delay).toBe('5s');
    expect(retryAfter(0).delay).toBe(0);
    expect(Object.keys(retryAfter())).not.toContain('delay');
  });

  it('is ack() for a handler that returns nothing', () => {
    expect(DONE).toEqual(ack());
  });
});

describe('isOutcome', () => {
  it('recognises an outcome of another copy of the package, also from another realm', () => {
    const foreign: unknown = runInNewContext(
      `({ kind: 'retry', andAfter() {}, [Symbol.for('nestjs-settle.outcome')]: true })`,
    );
    expect(isOutcome(foreign)).toBe(true);
  });

  it.each([
    ['an object with the same shape', { kind: 'ack', andAfter: () => {} }],
    ['another kind', { kind: 'park', [OUTCOME]: true }],
    ['no kind', { [OUTCOME]: true }],
    ['a mark that is not true', { kind: 'ack', [OUTCOME]: 'yes' }],
    [
      'an unregistered symbol of the same name',
      { kind: 'ack', [Symbol('nestjs-settle.outcome')]: true },
    ],
    ['the name of a kind', 'ack'],
    ['a function', ack],
    ['an array of outcomes', [ack()]],
    ['a promise of one', Promise.resolve(ack())],
    ['an error class', Error],
  ])('rejects %s', (_name, value) => {
    expect(isOutcome(value)).toBe(false);
  });

  it.each(oddValues)('returns false for %s', (_name, make) => {
    expect(isOutcome(make())).toBe(false);
  });

  it('returns false if reading the kind throws', () => {
    const value = {
      [OUTCOME]: true,
      get kind(): never {
        throw new Error('unreadable');
      },
    };
    expect(isOutcome(value)).toBe(false);
  });
});

describe('andAfter', () => {
  it('returns a new outcome of the same kind and leaves the original unchanged', () => {
    const before = drop('why');
    const after = before.andAfter(() => 'done');
    expect(workOf(before)).toEqual([]);
    expect(after).not.toBe(before);
    expect(after).toMatchObject({ kind: 'drop', reason: 'why' });
    expect(Object.isFrozen(after)).toBe(true);
    expect(run(after)).toEqual(['done']);
  });

  it('keeps the order of callbacks, and branches are independent', () => {
    const first = ack().andAfter(() => 1);
    const one = first.andAfter(() => 2);
    const other = first.andAfter(() => 3);
    expect(run(first)).toEqual([1]);
    expect(run(one)).toEqual([1, 2]);
    expect(run(other)).toEqual([1, 3]);
  });

  it('passes the settlement to the callback and returns or throws its result', async () => {
    const work = vi.fn(async () => 'sent');
    const [result] = run(ack().andAfter(work));
    expect(work).toHaveBeenCalledExactlyOnceWith(settlement);
    expect(await result).toBe('sent');
    const failing = ack().andAfter(() => {
      throw new Error('no mail today');
    });
    expect(() => run(failing)).toThrow('no mail today');
  });

  it('runs a callback in the asynchronous context of its andAfter call', () => {
    const tenant = new AsyncLocalStorage<string>();
    const outcome = tenant.run('acme', () => ack().andAfter(() => tenant.getStore()));
    expect(tenant.run('settler', () => run(outcome))).toEqual(['acme']);
  });

  it('keeps the mark of a failure policy, and a mark keeps the callbacks', () => {
    const failure = { policy: 'drop', cause: 'error', error: new Error('why') } as const;
    const marked = markFailure(
      drop().andAfter(() => 1),
      failure,
    );
    const extended = marked.andAfter(() => 2);
    expect(failureMarkOf(extended)).toBe(failure);
    expect(run(extended)).toEqual([1, 2]);
  });

  it('extends an outcome of another copy of the package', () => {
    const foreign = {
      kind: 'ack',
      [OUTCOME]: true,
      [WORK]: [() => 'theirs'],
      andAfter: ack().andAfter,
    } as unknown as Outcome;
    expect(run(foreign.andAfter(() => 'ours'))).toEqual(['theirs', 'ours']);
  });
});

describe('markFailure', () => {
  const failure = { policy: 'retry', cause: 'timeout', error: undefined } as const;

  it('marks a copy and leaves the original unmarked', () => {
    const unmarked = retry();
    const marked = markFailure(unmarked, failure);
    expect(failureMarkOf(marked)).toBe(failure);
    expect(failureMarkOf(unmarked)).toBeUndefined();
    expect(Object.isFrozen(marked)).toBe(true);
    expect(isOutcome(marked)).toBe(true);
  });
});
