import type { IncomingMessage } from '../model/delivery';
import type { Tagged } from './acknowledger';

/** One delivery of a channel, with the message as amqplib delivered it. */
export interface ChannelDelivery extends Tagged<ChannelDelivery> {
  readonly message: IncomingMessage;
}

/**
 * The delivered message itself: whatever wraps the channel, as instrumentations do, knows it by identity.
 * amqplib reads the tag of it, so one that a handler has changed is replaced: it would settle another delivery.
 */
export function deliveredMessage({ message, tag }: ChannelDelivery): IncomingMessage {
  if (message.fields?.deliveryTag === tag) return message;
  return { ...message, fields: { ...message.fields, deliveryTag: tag } };
}
