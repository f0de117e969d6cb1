import type { BrokerDelivery } from '../amqp/port';
import { attemptOf } from '../delivery/attempt';
import { DeliveryRecord } from '../delivery/delivery-record';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { InFlight } from './in-flight';

/** A delivery as it arrives. @param startedAt on the clock's monotonic scale. */
export function arrivalOf(
  subscription: SubscriptionMetadata,
  brokerDelivery: BrokerDelivery,
  startedAt: number,
): InFlight {
  const { message, queue, countsRedeliveries, acquired } = brokerDelivery;
  const counts = { redeliveries: countsRedeliveries, acquired: acquired > 0 };
  const attempt = attemptOf(message, queue, counts, subscription.retry?.attempts);
  return {
    delivery: new DeliveryRecord(subscription, message, queue, attempt),
    brokerDelivery,
    startedAt,
    settling: false,
    givenUp: false,
    previous: undefined,
    next: undefined,
  };
}
