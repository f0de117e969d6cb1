import { types } from 'node:util';
import { isPanicError } from '../model/errors';
import type { Cause } from '../model/failure-mark';
import type { HandlerFailure } from './handler-failure';

/** Answers whether an error is a bug; `undefined` leaves it to the table below. */
export type IsPanic = (error: unknown) => boolean | undefined;

/**
 * What a failure means; the first line that matches decides.
 *
 * 1. The time limit: `timeout`. No method takes the message: `unmatched`. The decoder, and what does not match the schema: `invalid-payload`.
 * 2. `isPanic` of the module's options: `true` is a panic, `false` rules out lines 3 and 4.
 * 3. `Panic` and `AssertionError`: panics.
 * 4. Bugs, wherever they were thrown: a `ReferenceError`, the `RangeError` of a stack overflow, a
 *    `TypeError`. Not with a `status`, a `cause` or a `code`, nor Abort and Timeout errors. A `TypeError`
 *    while the payload is not an object is the payload's fault: `invalid-payload`.
 * 5. A guard, pipe, interceptor or schema that refuses with status 400 or 422 before the body began:
 *    `invalid-payload`.
 * 6. What else a pipe or a schema threw, since they are about the payload: `invalid-payload`, except errors with
 *    another status, a `cause` or a `code`, and Abort and Timeout errors.
 * 7. Everything else: `error`.
 *
 * Errors of another realm count by their names.
 */
export function causeOf(failed: HandlerFailure, payload: unknown, isPanic?: IsPanic): Cause {
  const { origin, error } = failed;
  if (origin === 'timeout' || origin === 'unmatched') return origin;
  if (origin === 'decode') return 'invalid-payload';
  const answer = isPanic?.(error);
  if (answer === true) return 'panic';
  if (answer === undefined) {
    if (isDeclaredPanic(error)) return 'panic';
    if (isBug(error)) {
      const isPayloadsFault = isBuiltIn(error, TypeError) && !isObject(payload);
      return isPayloadsFault ? 'invalid-payload' : 'panic';
    }
  }
  return isRefusal(failed) ? 'invalid-payload' : 'error';
}

function isDeclaredPanic(error: unknown): boolean {
  const isAssertion = isError(error) && read(error, 'name') === 'AssertionError';
  return isAssertion || isPanicError(error);
}

function isBug(error: unknown): error is Error {
  if (!isError(error) || isOperational(error) || statusOf(error) !== undefined) return false;
  return isBuiltIn(error, TypeError) || isBuiltIn(error, ReferenceError) || isStackOverflow(error);
}

function isRefusal({ origin, error, enhancer }: HandlerFailure): boolean {
  const status = statusOf(error);
  if (status === 400 || status === 422) return enhancer?.entered === false || origin === 'schema';
  return (
    (origin === 'pipe' || origin === 'schema') && status === undefined && !isOperational(error)
  );
}

/** Whether a value is an error, of this realm or another. Never throws. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || types.isNativeError(value);
  } catch {
    return false; // A proxy whose traps throw.
  }
}

// What goes wrong outside of the program: a failed request, a system call, an aborted wait.
function isOperational(error: unknown): boolean {
  const name = read(error, 'name');
  if (name === 'AbortError' || name === 'TimeoutError') return true;
  return read(error, 'cause') !== undefined || read(error, 'code') !== undefined;
}

function isBuiltIn(error: Error, type: typeof TypeError | typeof ReferenceError): boolean {
  return error instanceof Error ? error instanceof type : read(error, 'name') === type.name;
}

function isStackOverflow(error: Error): boolean {
  return (
    read(error, 'name') === 'RangeError' &&
    read(error, 'message') === 'Maximum call stack size exceeded'
  );
}

// The status of Nest's HttpException, by what it looks like: another copy of @nestjs/common has another
// class. `undefined` if there is none; NaN if it can't be read.
function statusOf(error: unknown): number | undefined {
  const getStatus = read(error, 'getStatus');
  if (typeof getStatus !== 'function') return undefined;
  try {
    const status: unknown = getStatus.call(error);
    return typeof status === 'number' ? status : Number.NaN;
  } catch {
    return Number.NaN;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function read(value: unknown, property: string): unknown {
  if (!isObject(value)) return undefined;
  try {
    return Reflect.get(value as object, property);
  } catch {
    return undefined; // A getter that throws has nothing to say about the error.
  }
}
