import type { DeliveryRecord } from '../delivery/delivery-record';

/** Follows each delivery while it is in flight. Neither method may throw. */
export interface DeliveryObserver {
  /**
   * Its handling begins, or it is settled without being handled. What runs for it from here on runs in the
   * context that the observer has made `delivery.captureContext()` capture.
   */
  began(delivery: DeliveryRecord): void;
  /** It is no longer in flight, whatever became of it; called once for each that began. */
  ended(delivery: DeliveryRecord): void;
}
