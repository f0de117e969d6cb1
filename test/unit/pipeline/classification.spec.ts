import { AssertionError, ok } from 'node:assert';
import { runInNewContext } from 'node:vm';
import {
  BadRequestException,
  ForbiddenException,
  HttpException,
  UnprocessableEntityException,
} from '@nestjs/common';
import { describe, expect, it, vi } from 'vitest';
import {
  ChannelLostError,
  HandlerTimeoutError,
  Panic,
  ShutdownError,
} from '../../../lib/model/errors';
import type { Cause } from '../../../lib/model/failure-mark';
import { causeOf, type IsPanic, isError } from '../../../lib/pipeline/classification';
import { HandlerFailure, type Origin } from '../../../lib/pipeline/handler-failure';
import { oddValues } from '../fixtures';

const order = { id: 7 };
const before = { entered: false, name: 'a pipe' };
const after = { entered: true, name: 'an interceptor' };

function caught(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

function inAnotherRealm(source: string): unknown {
  return runInNewContext(source);
}

function overflow(): number {
  return overflow() + 1;
}

function withProperties<T extends object>(error: T, properties: object): T {
  return Object.assign(error, properties);
}

function status(code: number): object {
  return { getStatus: () => code };
}

function rpcException(): Error {
  return withProperties(new Error('x'), { getError: () => ['amount must be positive'] });
}

class LedgerPanic extends Panic {}
class OwnTypeError extends TypeError {}
const undefinedValue = undefined as unknown as { readonly id: number };

describe("an error of the handler's body", () => {
  it.each<[string, unknown, Cause]>([
    // The library's Panic and AssertionError.
    ['a Panic', new Panic('two ledgers'), 'panic'],
    ['a subclass of Panic', new LedgerPanic('two ledgers'), 'panic'],
    ['a Panic with a cause', new Panic('two ledgers', { cause: new Error('why') }), 'panic'],
    ['a Panic with a code', withProperties(new Panic('two ledgers'), { code: 'LEDGER' }), 'panic'],
    [
      'a Panic of another copy of the package',
      withProperties(new Error('two ledgers'), { [Symbol.for('nestjs-settle.panic')]: true }),
      'panic',
    ],
    [
      'a Panic of another realm',
      inAnotherRealm(
        `Object.assign(new Error('x'), { [Symbol.for('nestjs-settle.panic')]: true })`,
      ),
      'panic',
    ],
    ['an AssertionError of node:assert, which has a code', caught(() => ok(false)), 'panic'],
    [
      'an AssertionError with a cause',
      withProperties(new AssertionError({}), { cause: 'why' }),
      'panic',
    ],
    [
      'an AssertionError of another library, by its name',
      withProperties(new Error('x'), { name: 'AssertionError' }),
      'panic',
    ],
    [
      'an AssertionError of another realm',
      inAnotherRealm(`Object.assign(new Error('x'), { name: 'AssertionError' })`),
      'panic',
    ],
    // Values that are not errors.
    ['undefined', undefined, 'error'],
    ['a text', 'TypeError', 'error'],
    ['an object named TypeError', { name: 'TypeError', message: 'x' }, 'error'],
    ['an object named AssertionError', { name: 'AssertionError' }, 'error'],
    // Abort and Timeout errors.
    ['the AbortError of a signal', AbortSignal.abort().reason, 'error'],
    [
      'an AbortError that is a TypeError',
      withProperties(new TypeError('x'), { name: 'AbortError' }),
      'error',
    ],
    ['a TimeoutError', new DOMException('too long', 'TimeoutError'), 'error'],
    [
      'a TimeoutError that is a TypeError',
      withProperties(new TypeError('x'), { name: 'TimeoutError' }),
      'error',
    ],
    // Errors with a cause or a code.
    [
      'a failed fetch',
      new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }),
      'error',
    ],
    ['a TypeError whose cause is null', new TypeError('x', { cause: null }), 'error'],
    [
      "a TypeError of Node's argument checks, with a code",
      caught(() => Buffer.from(5 as never)),
      'error',
    ],
    ['a ReferenceError with a code', withProperties(new ReferenceError('x'), { code: 5 }), 'error'],
    [
      'a failed fetch of another realm',
      inAnotherRealm(`new TypeError('fetch failed', { cause: new Error('x') })`),
      'error',
    ],
    // Bugs.
    ['a TypeError', caught(() => undefinedValue.id), 'panic'],
    ['a subclass of TypeError', new OwnTypeError('x'), 'panic'],
    [
      'a TypeError of another realm',
      inAnotherRealm('try { null.id } catch (error) { error }'),
      'panic',
    ],
    ['a ReferenceError', new ReferenceError('x is not defined'), 'panic'],
    [
      'a ReferenceError of another realm',
      inAnotherRealm('try { x } catch (error) { error }'),
      'panic',
    ],
    ['a stack overflow', caught(overflow), 'panic'],
    [
      'a stack overflow of another realm',
      inAnotherRealm('const f = () => f() + 1; try { f() } catch (error) { error }'),
      'panic',
    ],
    // Ordinary errors.
    ['an Error', new Error('the bank is closed'), 'error'],
    ['an Error of another realm', inAnotherRealm(`new Error('x')`), 'error'],
    ['an Error named TypeError', withProperties(new Error('x'), { name: 'TypeError' }), 'error'],
    ['a RangeError', caught(() => new Array(-1)), 'error'],
    ['a SyntaxError', caught(() => JSON.parse('{')), 'error'],
    [
      'an HttpException with status 400, since the body had started',
      new BadRequestException(),
      'error',
    ],
    ['an AggregateError of bugs', new AggregateError([new TypeError('x')]), 'error'],
    ['a ChannelLostError', new ChannelLostError('x'), 'error'],
    ['a ShutdownError', new ShutdownError('x'), 'error'],
    ['a HandlerTimeoutError that the handler throws', new HandlerTimeoutError('x', 5), 'error'],
  ])('%s', (_name, error, cause) => {
    expect(causeOf(new HandlerFailure('body', error), order)).toBe(cause);
  });

  it.each<[string, unknown, Cause]>([
    ['null', null, 'invalid-payload'],
    ['undefined, from an empty body', undefined, 'invalid-payload'],
    ['a text', 'order', 'invalid-payload'],
    ['a number', 0, 'invalid-payload'],
    ['false', false, 'invalid-payload'],
    ['a list', [], 'panic'],
    ['an object', {}, 'panic'],
    ['bytes', Buffer.from('x'), 'panic'],
  ])('a TypeError with the payload %s: %s', (_name, payload, cause) => {
    expect(causeOf(new HandlerFailure('body', new TypeError('x')), payload)).toBe(cause);
    expect(causeOf(new HandlerFailure('body', inAnotherRealm(`new TypeError('x')`)), payload)).toBe(
      cause,
    );
  });

  it('with the payload null: only a TypeError is attributed to the payload', () => {
    const causeWithNull = (error: unknown): Cause =>
      causeOf(new HandlerFailure('body', error), null);
    expect(causeWithNull(new ReferenceError('x'))).toBe('panic');
    expect(causeWithNull(new Panic('x'))).toBe('panic');
    expect(causeWithNull(new TypeError('x', { cause: 'why' }))).toBe('error');
    expect(causeWithNull(new Error('x'))).toBe('error');
  });
});

describe('an error of a guard, interceptor or filter', () => {
  it.each<[string, unknown, { readonly entered: boolean; readonly name: string }, Cause]>([
    ['400 before the body started', new BadRequestException(), before, 'invalid-payload'],
    ['422 before the body started', new UnprocessableEntityException(), before, 'invalid-payload'],
    ['an HttpException with status 422', new HttpException('x', 422), before, 'invalid-payload'],
    ['an exception of another copy of Nest', { getStatus: () => 400 }, before, 'invalid-payload'],
    ['400 after the body started', new BadRequestException(), after, 'error'],
    ['a ForbiddenException', new ForbiddenException(), before, 'error'],
    ['a status that is not a number', { getStatus: () => '400' }, before, 'error'],
    ['a status that cannot be read', { getStatus: () => caught }, before, 'error'],
    ['a getStatus that throws', { getStatus: () => undefinedValue.id }, before, 'error'],
    ['a getStatus that is not a method', { getStatus: 400 }, before, 'error'],
    ['a TypeError with a status', Object.assign(new TypeError('x'), status(401)), before, 'error'],
    ['a TypeError with a code', withProperties(new TypeError('x'), { code: 'E' }), before, 'error'],
    ['an ordinary error', new Error('x'), before, 'error'],
    ['a TypeError', new TypeError('res.setHeader is not a function'), before, 'panic'],
    ['a TypeError after the body started', new TypeError('x'), after, 'panic'],
    ['a ReferenceError', new ReferenceError('x'), before, 'panic'],
    ['a stack overflow', caught(overflow), after, 'panic'],
    ['a Panic', new Panic('x'), before, 'panic'],
  ])('%s', (_name, error, enhancer, cause) => {
    expect(causeOf(new HandlerFailure('enhancer', error, enhancer), order)).toBe(cause);
  });

  it('a TypeError with a payload that is not an object is attributed to the payload', () => {
    const failed = new HandlerFailure('enhancer', new TypeError('x'), before);
    expect(causeOf(failed, null)).toBe('invalid-payload');
    expect(causeOf(new HandlerFailure('interceptor', new TypeError('x')), 'text')).toBe(
      'invalid-payload',
    );
  });

  it("an error of an interceptor of the module is classified like the handler's", () => {
    const causeOfInterceptor = (error: unknown): Cause =>
      causeOf(new HandlerFailure('interceptor', error), order);
    expect(causeOfInterceptor(new TypeError('x'))).toBe('panic');
    expect(causeOfInterceptor(new Panic('x'))).toBe('panic');
    expect(causeOfInterceptor(new Error('x'))).toBe('error');
    expect(causeOfInterceptor(new BadRequestException())).toBe('error');
  });
});

describe('an error of a pipe', () => {
  class InvalidOrder extends Error {}

  it.each<[string, unknown, Cause]>([
    ['an error class of its own', new InvalidOrder('x'), 'invalid-payload'],
    ['an Error', new Error('x'), 'invalid-payload'],
    ['an RpcException without a status', rpcException(), 'invalid-payload'],
    ['a plain object', { statusCode: 400, errors: [] }, 'invalid-payload'],
    ['a text', 'amount must be positive', 'invalid-payload'],
    ['400', new BadRequestException(), 'invalid-payload'],
    ['422', new UnprocessableEntityException(), 'invalid-payload'],
    ['another status', new HttpException('no such customer', 404), 'error'],
    ['500', new HttpException('x', 500), 'error'],
    ['a system error', withProperties(new Error('x'), { code: 'ECONNREFUSED' }), 'error'],
    ['an error with a cause', new InvalidOrder('x', { cause: new Error('y') }), 'error'],
    ['the AbortError of a signal', AbortSignal.abort().reason, 'error'],
    ['a TimeoutError', new DOMException('too long', 'TimeoutError'), 'error'],
    ['a TypeError', new TypeError('x'), 'panic'],
    ['a Panic', new Panic('x'), 'panic'],
  ])('%s', (_name, error, cause) => {
    expect(causeOf(new HandlerFailure('pipe', error, before), order)).toBe(cause);
  });

  it.each(oddValues)('%s does not make it throw', (_name, make) => {
    const cause = causeOf(new HandlerFailure('pipe', make(), before), order);
    expect(['invalid-payload', 'error']).toContain(cause);
  });
});

describe('the origin of a failure', () => {
  it.each<[Origin, Cause]>([
    ['timeout', 'timeout'],
    ['decode', 'invalid-payload'],
  ])('%s takes precedence', (origin, cause) => {
    const isPanic = vi.fn<IsPanic>(() => true);
    for (const error of [new Panic('x'), new TypeError('x'), 'x', new AssertionError({})]) {
      expect(causeOf(new HandlerFailure(origin, error), order, isPanic)).toBe(cause);
    }
    expect(isPanic).not.toHaveBeenCalled();
  });
});

describe('isPanic of the module', () => {
  it("can turn any error into a panic, also an enhancer's", () => {
    const yes = (): boolean => true;
    for (const failed of [
      new HandlerFailure('body', new Error('x')),
      new HandlerFailure('body', undefined),
      new HandlerFailure('enhancer', new BadRequestException(), before),
      new HandlerFailure('interceptor', new Error('x')),
    ]) {
      expect(causeOf(failed, order, yes)).toBe('panic');
    }
  });

  it('can turn any panic into an error, and leaves invalid payloads alone', () => {
    const no = (): boolean => false;
    for (const error of [new Panic('x'), new TypeError('x'), caught(() => ok(false))]) {
      expect(causeOf(new HandlerFailure('body', error), order, no)).toBe('error');
    }
    expect(
      causeOf(new HandlerFailure('enhancer', new BadRequestException(), before), order, no),
    ).toBe('invalid-payload');
  });

  it('receives the error and leaves the default with undefined', () => {
    const isPanic = vi.fn<IsPanic>(() => undefined);
    const error = new TypeError('x');
    expect(causeOf(new HandlerFailure('body', error), order, isPanic)).toBe('panic');
    expect(causeOf(new HandlerFailure('body', new Error('x')), order, isPanic)).toBe('error');
    expect(isPanic.mock.calls[0]).toEqual([error]);
    expect(isPanic).toHaveBeenCalledTimes(2);
  });
});

describe('an unusual thrown value', () => {
  it.each(oddValues)('%s is an error and not a panic', (_name, make) => {
    for (const origin of ['body', 'interceptor'] as const) {
      expect(causeOf(new HandlerFailure(origin, make()), order)).toBe('error');
    }
    expect(causeOf(new HandlerFailure('enhancer', make(), before), order)).toBe('error');
  });

  it('a TypeError with unreadable properties is a panic', () => {
    const fail = (): never => {
      throw new Error('unreadable');
    };
    const error = Object.defineProperties(new TypeError('x'), { code: { get: fail } });
    expect(causeOf(new HandlerFailure('body', error), order)).toBe('panic');
  });
});

describe('isError', () => {
  it.each<[unknown, boolean]>([
    [new Error('x'), true],
    [new DOMException('x'), true],
    [inAnotherRealm(`new RangeError('x')`), true],
    [inAnotherRealm(`class Own extends Error {}; new Own('x')`), true],
    [Object.create(Error.prototype), true],
    [{ name: 'Error', message: 'x' }, false],
    ['Error: x', false],
    [null, false],
  ])('%o: %s', (value, expected) => {
    expect(isError(value)).toBe(expected);
  });

  it.each(oddValues)('does not throw for %s', (_name, make) => {
    expect(typeof isError(make())).toBe('boolean');
  });
});
