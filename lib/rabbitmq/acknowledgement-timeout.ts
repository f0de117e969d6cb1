import { isAtLeast, type ServerVersion } from '../amqp/queue-declarations';
import { texts } from '../log/texts';
import { consumerTimeoutOf } from '../model/consumer-timeout';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { ConsumerCancelled } from './consumer-channel';

/** The shortest consumer timeout that RabbitMQ supports, in ms. */
const SHORTEST_LIMIT = 60_000;

/** How a channel ended. */
export interface ChannelEnd {
  readonly reason: Error;
  readonly version: ServerVersion;
  /** The delivery that was unsettled for longest. */
  readonly oldest: { readonly messageId: string | undefined; readonly ageMs: number };
  /** Called only if the answer matters. */
  queueExists(): Promise<boolean>;
}

/**
 * The reason why a channel ended, with the message whose acknowledgement took too long if that was the reason.
 * Before 4.3 the server closes the channel and names its limit. From 4.3 on it cancels the consumer, of a
 * quorum queue only, without a reason: a cancel while the queue still exists and a delivery has been
 * unsettled for long enough is taken for it.
 */
export async function explainChannelEnd(
  subscription: SubscriptionMetadata,
  end: ChannelEnd,
): Promise<Error> {
  const { reason, version, oldest } = end;
  const named = limitNamedIn(reason);
  if (named !== undefined) return overdue(oldest, named, reason);
  const isCancel = reason instanceof ConsumerCancelled && subscription.queueType === 'quorum';
  if (!isCancel || !isAtLeast(version, [4, 3])) return reason;
  const declared = consumerTimeoutOf(subscription);
  // The server's time begins when it sends the message, before ours.
  if (oldest.ageMs < (declared ?? SHORTEST_LIMIT) / 2) return reason;
  return (await end.queueExists()) ? overdue(oldest, declared, reason) : reason;
}

function overdue(oldest: ChannelEnd['oldest'], limitMs: number | undefined, cause: Error): Error {
  return new Error(texts.acknowledgementOverdue(oldest, limitMs), { cause });
}

function limitNamedIn({ message }: Error): number | undefined {
  const [, limit] =
    /delivery acknowledgement on channel \d+ timed out\. Timeout value used: (\d+) ms/.exec(
      message,
    ) ?? [];
  return limit === undefined ? undefined : Number(limit);
}
