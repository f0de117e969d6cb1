import type { DeliveryRecord } from '../delivery/delivery-record';
import type { Outcome } from '../model/outcome';
import type { BatchHandling } from './batch';

/** What follows one call of a method with a batch. Neither method throws. */
export interface ObservedBatch {
  /** Runs the method in the context of the observer. */
  inContext<T>(work: () => T): T;
  /** The method has ended, or its timeout has. */
  ended(outcomes: readonly Outcome[]): void;
}

/** Follows the calls of a method with batches; returns `undefined` if nothing follows this one. */
export type ObserveBatch = (batch: readonly DeliveryRecord[]) => ObservedBatch | undefined;

/** Has an observer follow the calls of a method with batches. */
export function observeBatches(
  call: BatchHandling['call'],
  observe: ObserveBatch,
): BatchHandling['call'] {
  return async (batch) => {
    const observed = observe(batch);
    if (observed === undefined) return call(batch);
    const outcomes = await observed.inContext(() => call(batch));
    observed.ended(outcomes);
    return outcomes;
  };
}
