import { Nack } from '@golevelup/nestjs-rabbitmq';
import { EMPTY, Observable, of, throwError } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { ack, drop, type Outcome, retry, retryAfter } from '../../../lib/model/outcome';
import { callStage, isNack, lastValueOf } from '../../../lib/pipeline/call';
import { HandlerFailure } from '../../../lib/pipeline/handler-failure';
import { aDelivery, oddValues, rethrowing } from '../fixtures';

/** The outcome of a handler's body, and the unexpected values that were reported. */
async function call(body: () => unknown): Promise<{ outcome: Outcome; reported: unknown[] }> {
  const reported: unknown[] = [];
  const outcome = await callStage(body, (value) => reported.push(value), rethrowing)(aDelivery());
  return { outcome, reported };
}

async function failureOf(body: () => unknown): Promise<HandlerFailure> {
  const failed: unknown = await call(body).catch((error: unknown) => error);
  if (!(failed instanceof HandlerFailure)) throw new Error('the stage did not fail');
  return failed;
}

/** How a handler can return a value. */
const ways: readonly (readonly [string, (value: unknown) => unknown])[] = [
  ['synchronously', (value) => value],
  ['as a promise', async (value) => value],
  ['as an Observable', (value) => of(value)],
  ['as a promise of an Observable', async (value) => of(value)],
  ['as an Observable of a promise', (value) => of(Promise.resolve(value))],
  ['as the last of several values', (value) => of(drop('not the last'), 'nor this', value)],
  ['as a thenable', (value) => ({ then: (resolve: (v: unknown) => void) => resolve(value) })],
];

describe.each(ways)('a handler that returns a value %s', (_way, by) => {
  it('undefined becomes ack()', async () => {
    expect(await call(() => by(undefined))).toEqual({ outcome: ack(), reported: [] });
  });

  it.each([ack(), drop('why'), retry(), retryAfter('5s')])(
    'an outcome is kept: %o',
    async (given) => {
      const { outcome, reported } = await call(() => by(given));
      expect(outcome).toBe(given);
      expect(reported).toEqual([]);
    },
  );

  it("golevelup's Nack becomes drop(), or retry() if it requeues", async () => {
    expect(await call(() => by(new Nack()))).toEqual({ outcome: drop(), reported: [] });
    expect(await call(() => by(new Nack(false)))).toEqual({ outcome: drop(), reported: [] });
    expect(await call(() => by(new Nack(true)))).toEqual({ outcome: retry(), reported: [] });
  });

  it.each([null, 0, false, '', 'ok', 'drop', { kind: 'drop' }, [retry()]])(
    'anything else becomes ack() and is reported: %o',
    async (value) => {
      expect(await call(() => by(value))).toEqual({ outcome: ack(), reported: [value] });
    },
  );
});

/** How a handler can fail. */
const failing: readonly (readonly [string, (error: unknown) => () => unknown])[] = [
  [
    'before its first await',
    (error) => () => {
      throw error;
    },
  ],
  ['with a rejection', (error) => () => Promise.reject(error)],
  ['in an Observable', (error) => () => throwError(() => error)],
  ['in a promise of an Observable', (error) => async () => throwError(() => error)],
  [
    'after emitting values',
    (error) => () =>
      new Observable((subscriber) => {
        subscriber.next(ack());
        subscriber.error(error);
      }),
  ],
  [
    'in the then of a returned thenable',
    (error) => () => ({
      then: () => {
        throw error;
      },
    }),
  ],
  [
    'in a then getter',
    (error) => () => ({
      get then(): never {
        throw error;
      },
    }),
  ],
];

describe.each(failing)('a handler that fails %s', (_way, by) => {
  it('with an outcome returns it', async () => {
    const given = drop('thrown');
    expect((await call(by(given))).outcome).toBe(given);
  });

  it('with an error is a failure of the body, with that error', async () => {
    const error = Object.freeze(new Error('why'));
    const failed = await failureOf(by(error));
    expect(failed.origin).toBe('body');
    expect(failed.error).toBe(error);
  });

  it('with a Nack is a failure, since only a returned Nack is an outcome', async () => {
    const nack = new Nack(true);
    expect((await failureOf(by(nack))).error).toBe(nack);
  });

  it.each(oddValues)('with %s is a failure of the body, with that value', async (_name, make) => {
    const value = make();
    const failed = await failureOf(by(value));
    expect(failed.origin).toBe('body');
    expect(Object.is(failed.error, value)).toBe(true);
  });

  it('with a failure marked by an enhancer keeps it', async () => {
    const marked = new HandlerFailure('enhancer', new Error('denied'), {
      entered: false,
      name: 'a guard',
    });
    expect(await failureOf(by(marked))).toBe(marked);
  });
});

describe('an Observable', () => {
  it('that completes without a value counts as undefined', async () => {
    expect(await call(() => EMPTY)).toEqual({ outcome: ack(), reported: [] });
  });

  it('is subscribed to once and awaited until it completes', async () => {
    const subscribed = vi.fn();
    let end: () => void = () => {};
    const values = new Observable((subscriber) => {
      subscribed();
      subscriber.next(drop('not yet'));
      end = () => {
        subscriber.next(retry());
        subscriber.complete();
      };
    });
    const called = call(() => values);
    await Promise.resolve();
    const ended = vi.fn();
    void called.then(ended);
    await Promise.resolve();
    expect(ended).not.toHaveBeenCalled();
    end();
    expect((await called).outcome).toEqual(retry());
    expect(subscribed).toHaveBeenCalledOnce();
  });

  it('of Observables resolves to the last value of the last one', async () => {
    expect((await call(() => of(of(drop()), of(ack(), retry())))).outcome).toEqual(retry());
  });

  it('resolves to its last value by lastValueOf, or to undefined', async () => {
    expect(await lastValueOf(of(1, 2))).toBe(2);
    expect(await lastValueOf(EMPTY)).toBeUndefined();
  });
});

describe('a handler', () => {
  it('that returns an async generator is reported, since its body never runs', async () => {
    const generator = (async function* () {
      yield retry();
    })();
    expect(await call(() => generator)).toEqual({ outcome: ack(), reported: [generator] });
  });

  it('that returns an unreadable value has succeeded', async () => {
    const fail = (): never => {
      throw new TypeError('unreadable');
    };
    const value = Object.defineProperties({}, { constructor: { get: fail }, lift: { get: fail } });
    expect(await call(() => value)).toEqual({ outcome: ack(), reported: [value] });
  });

  it('is called once, with the delivery', async () => {
    const body = vi.fn();
    const delivery = aDelivery();
    await callStage(body, () => {}, rethrowing)(delivery);
    expect(body).toHaveBeenCalledExactlyOnceWith(delivery);
  });
});

describe('callStage', () => {
  it('returns no promise unless the handler does', () => {
    const of = (body: () => unknown): unknown => callStage(body, () => {}, rethrowing)(aDelivery());
    expect(of(() => undefined)).toEqual(ack());
    expect(of(() => drop('synchronously'))).toEqual(drop('synchronously'));
    expect(
      of(() => {
        throw retry();
      }),
    ).toEqual(retry());
  });

  it.each(failing)("returns the policy's outcome for a handler that fails %s", async (_way, by) => {
    const delivery = aDelivery();
    const toOutcome = vi.fn(() => drop('by policy'));
    const error = new Error('why');
    expect(await callStage(by(error), () => {}, toOutcome)(delivery)).toEqual(drop('by policy'));
    expect(toOutcome).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ origin: 'body', error }),
      delivery,
    );
  });
});

describe('isNack', () => {
  class Named {
    readonly requeue = true;
  }
  Object.defineProperty(Named, 'name', { value: 'Nack' });

  it('recognises the class of another copy of golevelup by its shape', () => {
    expect(isNack(new Nack())).toBe(true);
    expect(isNack(new Named())).toBe(true);
  });

  it('recognises a class that a bundler has renamed', () => {
    const renamed = new Nack(true);
    Object.defineProperty(Object.getPrototypeOf(renamed), 'constructor', {
      value: class a {},
      configurable: true,
    });
    expect(isNack(renamed)).toBe(true);
    Object.defineProperty(Nack.prototype, 'constructor', { value: Nack });
  });

  it.each<[string, unknown]>([
    ['an object that only has requeue', { requeue: true }],
    ['a Nack without requeue', new (class Nack {})()],
    [
      'a Nack whose requeue is not a boolean',
      new (class Nack {
        requeue = 'yes';
      })(),
    ],
    ['the class', Nack],
    ['an object without a constructor', { constructor: undefined, requeue: true }],
  ])('rejects %s', (_name, value) => {
    expect(isNack(value)).toBe(false);
  });

  it.each(oddValues)('returns false for %s', (_name, make) => {
    expect(isNack(make())).toBe(false);
  });
});
