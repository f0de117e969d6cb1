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
  it('is a frozen plain object, a new one each time', () => {
    const outcome = make();
    expect(Object.isFrozen(outcome)).toBe(true);
    expect(Object.getPrototypeOf(outcome)).toBe(Object.prototype);
    expect(make()).not.toBe(outcome);
  });

  it('equals another of its like, as an assertion in a user’s test compares them', () => {
    expect(make()).toEqual(make());
    expect(make()).toStrictEqual(make());
  });

  it('equals no other', () => {
    for (const [, other] of makers) {
      if (other !== make) expect(make()).not.toEqual(other());
    }
  });

  it('is an outcome, and so is what andAfter makes of it', () => {
    expect(isOutcome(make())).toBe(true);
    expect(isOutcome(make().andAfter(() => {}))).toBe(true);
  });
});

describe('what an outcome holds', () => {
  it('has a reason only where one was given, the empty text included', () => {
    expect(drop('why').reason).toBe('why');
    expect(drop('').reason).toBe('');
    expect(Object.keys(drop())).not.toContain('reason');
  });

  it('has the delay as it was given, 0 included, and none where none was', () => {
    expect(retryAfter('5s').delay).toBe('5s');
    expect(retryAfter(0).delay).toBe(0);
    expect(Object.keys(retryAfter())).not.toContain('delay');
  });

  it('takes a handler that returned nothing for ack()', () => {
    expect(DONE).toEqual(ack());
  });
});

describe('isOutcome', () => {
  it('recognises an outcome of another copy of the package, from another realm too', () => {
    const foreign: unknown = runInNewContext(
      `({ kind: 'retry', andAfter() {}, [Symbol.for('nestjs-settle.outcome')]: true })`,
    );
    expect(isOutcome(foreign)).toBe(true);
  });

  it.each([
    ['an object that only looks like one', { kind: 'ack', andAfter: () => {} }],
    ['another kind', { kind: 'park', [OUTCOME]: true }],
    ['no kind', { [OUTCOME]: true }],
    ['a mark that is not true', { kind: 'ack', [OUTCOME]: 'yes' }],
    [
      'a symbol of the same name that is not registered',
      { kind: 'ack', [Symbol('nestjs-settle.outcome')]: true },
    ],
    ['the name of a kind', 'ack'],
    ['a function', ack],
    ['an array of outcomes', [ack()]],
    ['a promise of one', Promise.resolve(ack())],
    ['a class of errors', Error],
  ])('refuses %s', (_name, value) => {
    expect(isOutcome(value)).toBe(false);
  });

  it.each(oddValues)('answers for %s, and never throws', (_name, make) => {
    expect(isOutcome(make())).toBe(false);
  });

  it('answers where only the kind can not be read', () => {
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
  it('leaves the outcome as it was and gives a new one of the same meaning', () => {
    const before = drop('why');
    const after = before.andAfter(() => 'done');
    expect(workOf(before)).toEqual([]);
    expect(after).not.toBe(before);
    expect(after).toMatchObject({ kind: 'drop', reason: 'why' });
    expect(Object.isFrozen(after)).toBe(true);
    expect(run(after)).toEqual(['done']);
  });

  it('keeps the order in which work was given, and branches do not see each other', () => {
    const first = ack().andAfter(() => 1);
    const one = first.andAfter(() => 2);
    const other = first.andAfter(() => 3);
    expect(run(first)).toEqual([1]);
    expect(run(one)).toEqual([1, 2]);
    expect(run(other)).toEqual([1, 3]);
  });

  it('hands the settlement to the work, whose result and error are those of the work', async () => {
    const work = vi.fn(async () => 'sent');
    const [result] = run(ack().andAfter(work));
    expect(work).toHaveBeenCalledExactlyOnceWith(settlement);
    expect(await result).toBe('sent');
    const failing = ack().andAfter(() => {
      throw new Error('no mail today');
    });
    expect(() => run(failing)).toThrow('no mail today');
  });

  it('keeps the asynchronous context in which the work was given', () => {
    const tenant = new AsyncLocalStorage<string>();
    const outcome = tenant.run('acme', () => ack().andAfter(() => tenant.getStore()));
    expect(tenant.run('settler', () => run(outcome))).toEqual(['acme']);
  });

  it('keeps the mark of a failure policy, and a marked outcome keeps its work', () => {
    const failure = { policy: 'drop', cause: 'error', error: new Error('why') } as const;
    const marked = markFailure(
      drop().andAfter(() => 1),
      failure,
    );
    const extended = marked.andAfter(() => 2);
    expect(failureMarkOf(extended)).toBe(failure);
    expect(run(extended)).toEqual([1, 2]);
  });

  it('adds to the work that another copy of the package has put there', () => {
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

  it('tells what a policy said from what the handler said', () => {
    const said = retry();
    const marked = markFailure(said, failure);
    expect(failureMarkOf(marked)).toBe(failure);
    expect(failureMarkOf(said)).toBeUndefined();
    expect(Object.isFrozen(marked)).toBe(true);
    expect(isOutcome(marked)).toBe(true);
  });
});
