import { Nack } from '@golevelup/nestjs-rabbitmq';
import { EMPTY, Observable, of, throwError } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { ack, drop, type Outcome, retry, retryAfter } from '../../../lib/model/outcome';
import { callStage, isNack, lastValueOf } from '../../../lib/pipeline/call';
import { HandlerFailure } from '../../../lib/pipeline/handler-failure';
import { aDelivery, oddValues, rethrowing } from '../fixtures';

/** What a handler's body says, and what the stage was told of unexpected values. */
async function call(body: () => unknown): Promise<{ outcome: Outcome; told: unknown[] }> {
  const told: unknown[] = [];
  const outcome = await callStage(body, (value) => told.push(value), rethrowing)(aDelivery());
  return { outcome, told };
}

async function failureOf(body: () => unknown): Promise<HandlerFailure> {
  const failed: unknown = await call(body).catch((error: unknown) => error);
  if (!(failed instanceof HandlerFailure)) throw new Error('the stage did not fail');
  return failed;
}

/** The ways in which a handler can come to a value. */
const ways: readonly (readonly [string, (value: unknown) => unknown])[] = [
  ['at once', (value) => value],
  ['through a promise', async (value) => value],
  ['through an Observable', (value) => of(value)],
  ['through a promise of an Observable', async (value) => of(value)],
  ['through an Observable of a promise', (value) => of(Promise.resolve(value))],
  ['as the last of several values', (value) => of(drop('not me'), 'nor me', value)],
  ['through a thenable', (value) => ({ then: (resolve: (v: unknown) => void) => resolve(value) })],
];

describe.each(ways)('a handler that returns %s', (_way, by) => {
  it('nothing: ack()', async () => {
    expect(await call(() => by(undefined))).toEqual({ outcome: ack(), told: [] });
  });

  it.each([ack(), drop('why'), retry(), retryAfter('5s')])(
    'an outcome: that one, %o',
    async (said) => {
      const { outcome, told } = await call(() => by(said));
      expect(outcome).toBe(said);
      expect(told).toEqual([]);
    },
  );

  it('golevelup’s Nack: drop(), or retry() where it requeues', async () => {
    expect(await call(() => by(new Nack()))).toEqual({ outcome: drop(), told: [] });
    expect(await call(() => by(new Nack(false)))).toEqual({ outcome: drop(), told: [] });
    expect(await call(() => by(new Nack(true)))).toEqual({ outcome: retry(), told: [] });
  });

  it.each([null, 0, false, '', 'ok', 'drop', { kind: 'drop' }, [retry()]])(
    'something else: ack(), and it is told of %o',
    async (value) => {
      expect(await call(() => by(value))).toEqual({ outcome: ack(), told: [value] });
    },
  );
});

/** The ways in which a handler can fail. */
const failing: readonly (readonly [string, (error: unknown) => () => unknown])[] = [
  [
    'before its first await',
    (error) => () => {
      throw error;
    },
  ],
  ['with a rejection', (error) => () => Promise.reject(error)],
  ['in an Observable', (error) => () => throwError(() => error)],
  ['in a promised Observable', (error) => async () => throwError(() => error)],
  [
    'after values',
    (error) => () =>
      new Observable((subscriber) => {
        subscriber.next(ack());
        subscriber.error(error);
      }),
  ],
  [
    'in the then of what it returns',
    (error) => () => ({
      then: () => {
        throw error;
      },
    }),
  ],
  [
    'in the getter of then',
    (error) => () => ({
      get then(): never {
        throw error;
      },
    }),
  ],
];

describe.each(failing)('a handler that fails %s', (_way, by) => {
  it('with an outcome: that one', async () => {
    const said = drop('thrown');
    expect((await call(by(said))).outcome).toBe(said);
  });

  it('with an error: a failure of the body, the error untouched', async () => {
    const error = Object.freeze(new Error('why'));
    const failed = await failureOf(by(error));
    expect(failed.origin).toBe('body');
    expect(failed.error).toBe(error);
  });

  it('with a Nack: a failure, since only a returned one is an answer', async () => {
    const nack = new Nack(true);
    expect((await failureOf(by(nack))).error).toBe(nack);
  });

  it.each(oddValues)('with %s: a failure of the body, the value untouched', async (_name, make) => {
    const value = make();
    const failed = await failureOf(by(value));
    expect(failed.origin).toBe('body');
    expect(Object.is(failed.error, value)).toBe(true);
  });

  it('with what an enhancer has marked as a failure: that one', async () => {
    const marked = new HandlerFailure('enhancer', new Error('denied'), {
      entered: false,
      name: 'a guard',
    });
    expect(await failureOf(by(marked))).toBe(marked);
  });
});

describe('an Observable', () => {
  it('that ends without a value is nothing', async () => {
    expect(await call(() => EMPTY)).toEqual({ outcome: ack(), told: [] });
  });

  it('is subscribed to once, and awaited to its end', async () => {
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

  it('of Observables counts with the last of the last', async () => {
    expect((await call(() => of(of(drop()), of(ack(), retry())))).outcome).toEqual(retry());
  });

  it('is read to its last value by lastValueOf, undefined where there is none', async () => {
    expect(await lastValueOf(of(1, 2))).toBe(2);
    expect(await lastValueOf(EMPTY)).toBeUndefined();
  });
});

describe('a handler', () => {
  it('that returns an async generator does none of its work, and this is told', async () => {
    const generator = (async function* () {
      yield retry();
    })();
    expect(await call(() => generator)).toEqual({ outcome: ack(), told: [generator] });
  });

  it('that returns what can not be looked at has done its work all the same', async () => {
    const fail = (): never => {
      throw new TypeError('unreadable');
    };
    const value = Object.defineProperties({}, { constructor: { get: fail }, lift: { get: fail } });
    expect(await call(() => value)).toEqual({ outcome: ack(), told: [value] });
  });

  it('gets the delivery, and is called once', async () => {
    const body = vi.fn();
    const delivery = aDelivery();
    await callStage(body, () => {}, rethrowing)(delivery);
    expect(body).toHaveBeenCalledExactlyOnceWith(delivery);
  });
});

describe('the stage', () => {
  it('makes no promise where the handler makes none', () => {
    const of = (body: () => unknown): unknown => callStage(body, () => {}, rethrowing)(aDelivery());
    expect(of(() => undefined)).toEqual(ack());
    expect(of(() => drop('at once'))).toEqual(drop('at once'));
    expect(
      of(() => {
        throw retry();
      }),
    ).toEqual(retry());
  });

  it.each(failing)('turns what fails %s into the outcome of its policy', async (_way, by) => {
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

  it('knows the class of another copy of golevelup by what it looks like', () => {
    expect(isNack(new Nack())).toBe(true);
    expect(isNack(new Named())).toBe(true);
  });

  it.each<[string, unknown]>([
    ['an object that only has requeue', { requeue: true }],
    ['a Nack without requeue', new (class Nack {})()],
    [
      'a Nack whose requeue is no boolean',
      new (class Nack {
        requeue = 'yes';
      })(),
    ],
    ['the class', Nack],
    ['an object without a constructor', { constructor: undefined, requeue: true }],
  ])('refuses %s', (_name, value) => {
    expect(isNack(value)).toBe(false);
  });

  it.each(oddValues)('answers for %s', (_name, make) => {
    expect(isNack(make())).toBe(false);
  });
});
