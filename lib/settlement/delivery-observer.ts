import type { DeliveryRecord } from '../delivery/delivery-record';
import type { Outcome } from '../model/outcome';
import type { ObserveBatch } from '../pipeline/observed-batch';

export type { ObservedBatch } from '../pipeline/observed-batch';

/** Follows each delivery while it is in flight. No method may throw. */
export interface DeliveryObserver {
  /**
   * Its handling begins, or it is settled without being handled. What runs for it from here on runs in the
   * context that the observer has made `delivery.captureContext()` capture.
   */
  began(delivery: DeliveryRecord): void;
  /**
   * It is no longer in flight, whatever became of it; called once for each that began.
   * @param outcome if it is handled again in this process instead of being settled.
   */
  ended(delivery: DeliveryRecord, outcome?: Outcome): void;
  /** A method is called with a batch, whose deliveries have begun. */
  readonly batchBegan: ObserveBatch;
}
