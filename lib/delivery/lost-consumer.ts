import type { IncomingMessage } from '../model/delivery';
import { brokerCountOf, isRepublished } from './attempt';
import { headerOf, SettleHeaders } from './headers';

/**
 * Whether a message may have been in flight when a consumer was lost: the broker counts it as redelivered, or
 * it was republished unprocessed because of that. A retry that is a requeue is counted the same way.
 * @param counts whether the broker keeps a count for this queue; only then it is read.
 */
export function mayHaveLostItsConsumer(
  message: IncomingMessage,
  queue: string,
  counts: boolean,
): boolean {
  if (!counts) return false;
  if (brokerCountOf(message) > 0) return true;
  const mark = headerOf(message.properties.headers, SettleHeaders.lostConsumer);
  return mark !== undefined && isRepublished(message, queue);
}
