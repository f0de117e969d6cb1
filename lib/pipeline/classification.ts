import { types } from 'node:util';
import { isPanicError } from '../model/errors';
import type { Cause } from '../model/failure-mark';
import type { HandlerFailure } from './handler-failure';

/** Answers whether an error is a bug; `undefined` leaves it to the table below. */
export type IsPanic = (error: unknown) => boolean | undefined;

/**
 * What a failure means; the first line that matches decides.
 *
 * 1. The time limit: `timeout`. The decoder: `invalid-payload`.
 * 2. `isPanic` of the module's options, if it answers.
 * 3. `Panic` and `AssertionError` are panics.
 * 4. A pipe or a guard that refuses with 400 or 422 before the body began: `invalid-payload`.
 * 5. What else an enhancer or an interceptor raised, values that are no errors, Abort and Timeout
 *    errors, errors with a `cause` or a `code`: `error`.
 * 6. A `TypeError` while the payload is no object: the payload's fault, `invalid-payload`.
 * 7. `ReferenceError`, `TypeError`, the `RangeError` of a stack overflow: panics.
 * 8. Everything else: `error`.
 *
 * Errors of another realm count by their names.
 */
export function causeOf(failed: HandlerFailure, payload: unknown, isPanic?: IsPanic): Cause {
  const { origin, error, enhancer } = failed;
  if (origin === 'timeout') return 'timeout';
  if (origin === 'decode') return 'invalid-payload';
  const answer = isPanic?.(error);
  if (answer !== undefined) return answer ? 'panic' : refusalOr('error');
  const isAssertion = isError(error) && read(error, 'name') === 'AssertionError';
  if (isAssertion || isPanicError(error)) return 'panic';
  if (origin !== 'body') return refusalOr('error');
  if (!isError(error) || isNoBug(error)) return 'error';
  if (isBuiltIn(error, TypeError)) return isObject(payload) ? 'panic' : 'invalid-payload';
  if (isBuiltIn(error, ReferenceError) || isStackOverflow(error)) return 'panic';
  return 'error';

  function refusalOr(otherwise: Cause): Cause {
    const isRefusal = enhancer?.entered === false && isPayloadRefusal(error);
    return isRefusal ? 'invalid-payload' : otherwise;
  }
}

/** Whether a value is an error, of this realm or another. Never throws. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || types.isNativeError(value);
  } catch {
    return false; // A proxy whose traps throw.
  }
}

function isNoBug(error: Error): boolean {
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

// Nest's HttpException, by what it looks like: another copy of @nestjs/common is no other exception.
function isPayloadRefusal(error: unknown): boolean {
  const getStatus = read(error, 'getStatus');
  if (typeof getStatus !== 'function') return false;
  try {
    const status: unknown = getStatus.call(error);
    return status === 400 || status === 422;
  } catch {
    return false;
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
