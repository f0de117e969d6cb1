import type { DeliveryRecord } from '../delivery/delivery-record';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { BatchHandling } from '../pipeline/batch';
import type { Handling } from '../pipeline/interceptor';
import { type BatchHost, BatchLine } from './batch-line';
import type { DeliveryLine } from './delivery-line';
import type { InFlight } from './in-flight';
import { type OrderHost, OrderLine } from './order-line';
import { WaitingLine } from './waiting-line';

/** What a receiver does for the deliveries that wait. None throws. */
export interface LineHost extends BatchHost, OrderHost {
  /** Calls the handler of a delivery that has begun. */
  handle(inFlight: InFlight): void;
}

/** Where the deliveries of a subscription wait; `undefined` if none ever does. */
export function lineOf(
  subscription: SubscriptionMetadata,
  handling: Handling<DeliveryRecord> | BatchHandling,
  host: LineHost,
): DeliveryLine | undefined {
  const { batch, order, concurrency, rate } = subscription;
  if (typeof handling !== 'function') {
    return batch === undefined ? undefined : new BatchLine(batch, subscription, handling, host);
  }
  const begin = (inFlight: InFlight): void => {
    host.begin(inFlight);
    host.handle(inFlight);
  };
  if (order !== undefined) return new OrderLine(order, subscription, { ...host, begin });
  if (concurrency === undefined && rate === undefined) return undefined;
  return new WaitingLine<InFlight>({ concurrency, rate }, host.clock, begin);
}
