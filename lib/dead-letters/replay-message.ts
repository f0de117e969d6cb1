import { isDroppedOnRepublish, SettleHeaders } from '../delivery/headers';
import { keptPropertiesOf, type OutgoingMessage } from '../delivery/republish';
import type { Headers, IncomingMessage } from '../model/delivery';
import type { DescribedLetter } from './describe';

/**
 * A dead letter as it is replayed: its body, properties and application headers. It starts at attempt 1, and
 * keeps the exchange and routing key of its first publish. What RabbitMQ wrote, and why it failed, is left out.
 * @param queue where it is published.
 * @param now ms since the epoch.
 */
export function replayMessageOf(
  message: IncomingMessage,
  { origin, replays }: Pick<DescribedLetter, 'origin' | 'replays'>,
  queue: string,
  now: number,
): OutgoingMessage {
  const headers: Record<string, unknown> = Object.create(null);
  const own: Headers = message.properties.headers ?? {};
  for (const [name, value] of Object.entries(own)) {
    if (!isDroppedOnRepublish(name)) headers[name] = value;
  }
  if (origin?.exchange !== undefined && origin.routingKey !== undefined) {
    headers[SettleHeaders.queue] = queue;
    headers[SettleHeaders.exchange] = origin.exchange;
    headers[SettleHeaders.routingKey] = origin.routingKey;
  }
  headers[SettleHeaders.replays] = replays + 1;
  headers[SettleHeaders.replayedAt] = new Date(now).toISOString();
  return { body: message.content, properties: keptPropertiesOf(message), headers };
}
