import type { ConsumerListener } from '../amqp/port';
import { type Clock, resultWithin } from '../clock';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { explainChannelEnd } from './acknowledgement-timeout';
import type { ConsumerChannel } from './consumer-channel';
import { serverVersionOf } from './managed-connection';
import { RabbitMQDelivery } from './rabbitmq-delivery';
import { onScratchChannel } from './scratch-channel';
import type { RawConnection } from './types';

/** How long RabbitMQ may take to answer whether the queue exists, in ms. */
const ANSWER_LIMIT = 1_000;

/** A channel that has closed, and what is known around it. */
export interface EndedChannel {
  readonly channel: ConsumerChannel;
  readonly raw: RawConnection;
  readonly queue: string;
  readonly subscription: SubscriptionMetadata;
  readonly listener: Pick<ConsumerListener, 'ageOf'>;
  readonly clock: Clock;
}

/** Why a channel has closed, and the message that was being processed for longest if it may be the cause. */
export interface ChannelEndReason {
  readonly reason: Error;
  readonly oldest?: { readonly messageId: string | undefined };
}

/** Finds the reason of a closed channel. Called before its deliveries are aborted. Never rejects. */
export async function channelEndReason(
  { channel, raw, queue, subscription, listener, clock }: EndedChannel,
  reason: Error,
): Promise<ChannelEndReason> {
  const { oldest } = channel;
  const ageMs = oldest instanceof RabbitMQDelivery ? listener.ageOf(oldest) : 0;
  if (oldest === undefined || ageMs === 0) return { reason };
  const { messageId } = oldest.message.properties;
  const explained = await explainChannelEnd(subscription, {
    reason,
    version: serverVersionOf(raw),
    oldest: { messageId, ageMs },
    queueExists: async () => {
      const asked = onScratchChannel(raw, (scratch) => scratch.checkQueue(queue));
      return (await resultWithin(clock, ANSWER_LIMIT, asked)) !== undefined;
    },
  });
  // An explanation names the message itself.
  return explained === reason ? { reason, oldest: { messageId } } : { reason: explained };
}
