import { isObservable, lastValueFrom, type Observable } from 'rxjs';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { DONE, drop, isOutcome, type Outcome, retry } from '../model/outcome';
import { isThenable } from '../model/thenable';
import type { FailureToOutcome } from './failure-policy';
import { HandlerFailure } from './handler-failure';
import type { Handling } from './interceptor';

/** Calls the handler for a decoded delivery; may return, resolve, reject or throw anything. */
export type CallHandler = (delivery: DeliveryRecord) => unknown;

/**
 * The innermost stage: the call, and the outcome of its result. Nothing is `ack()`; an outcome, returned or
 * thrown, is itself; golevelup's `Nack` is `drop()` or `retry()`; of an Observable the last value counts;
 * anything else is `ack()` and is passed to `unexpected`.
 */
export function callStage(
  call: CallHandler,
  unexpected: (value: unknown, delivery: DeliveryRecord) => void,
  toOutcome: FailureToOutcome,
): Handling<DeliveryRecord> {
  const thrown = (error: unknown, delivery: DeliveryRecord): Outcome =>
    isOutcome(error) ? error : toOutcome(HandlerFailure.from(error, 'body'), delivery);
  const returned = (value: unknown, delivery: DeliveryRecord): Outcome | Promise<Outcome> => {
    if (value === undefined) return DONE;
    if (isOutcome(value)) return value;
    if (isStream(value)) return settled(lastValueOf(value), delivery);
    if (isNack(value)) return value.requeue ? retry() : drop();
    unexpected(value, delivery);
    return DONE;
  };
  const settled = (result: Promise<unknown>, delivery: DeliveryRecord): Promise<Outcome> =>
    result.then(
      (value) => returned(value, delivery),
      (error: unknown) => thrown(error, delivery),
    );
  return (delivery) => {
    try {
      const result = call(delivery);
      return isThenable(result)
        ? settled(Promise.resolve(result), delivery)
        : returned(result, delivery);
    } catch (error) {
      return thrown(error, delivery);
    }
  };
}

/** The last value of an Observable, `undefined` if it completes without one. Subscribes once. */
export function lastValueOf(values: Parameters<typeof lastValueFrom>[0]): Promise<unknown> {
  return lastValueFrom(values, { defaultValue: undefined });
}

/** Whether a value is golevelup's `Nack`, by its shape: another copy of the package has another class. */
export function isNack(value: unknown): value is { readonly requeue: boolean } {
  if (typeof value !== 'object' || value === null) return false;
  try {
    // A bundler can rename the class: then its private field tells.
    const isNamed = value.constructor?.name === 'Nack' || '_requeue' in value;
    return isNamed && 'requeue' in value && typeof value.requeue === 'boolean';
  } catch {
    return false; // A getter or a proxy that throws.
  }
}

function isStream(value: unknown): value is Observable<unknown> {
  try {
    return isObservable(value);
  } catch {
    return false;
  }
}
