import type { IncomingMessage } from '../model/delivery';
import { type BrokerCounts, brokerCountOf, isRepublished } from './attempt';
import { headerOf, SettleHeaders } from './headers';

/**
 * Whether a message may have been in flight when a consumer was lost: the broker counts it as redelivered, or
 * it was republished unprocessed because of that. A retry that is a requeue is counted the same way.
 */
export function mayHaveLostItsConsumer(
  message: IncomingMessage,
  queue: string,
  counts: BrokerCounts,
): boolean {
  if (!counts.redeliveries) return false;
  if (brokerCountOf(message, counts.acquired) > 0) return true;
  const mark = headerOf(message.properties.headers, SettleHeaders.lostConsumer);
  return mark !== undefined && isRepublished(message, queue);
}
