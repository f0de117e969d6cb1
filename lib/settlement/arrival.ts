import type { BrokerDelivery } from '../amqp/port';
import { countsIn } from '../amqp/redelivery-counting';
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
  const { message, queue } = brokerDelivery;
  const attempt = attemptOf(message, queue, countsIn(brokerDelivery), subscription.retry?.attempts);
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
