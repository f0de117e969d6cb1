import { isAtLeast, type ServerVersion } from '../amqp/queue-declarations';
import { texts } from '../log/texts';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { ConsumerCancelled } from './consumer-channel';

/** The shortest limit that RabbitMQ's documentation calls supported, in ms. */
const SHORTEST_LIMIT = 60_000;

/** What is known when a channel has ended. */
export interface ChannelEnd {
  readonly reason: Error;
  readonly version: ServerVersion;
  /** The delivery that was unsettled for longest. */
  readonly oldest: { readonly messageId: string | undefined; readonly ageMs: number };
  /** Asked only where the answer matters. */
  queueExists(): Promise<boolean>;
}

/**
 * Says so where the server has ended a channel because an acknowledgement took too long, and which one;
 * else gives the reason as it is. Before 4.3 the server closes the channel and names its limit. From 4.3
 * on it cancels the consumer, of a quorum queue only, and names nothing: a cancel of a queue that is
 * still there, with an acknowledgement outstanding for long enough, is taken for that.
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
  const declared = declaredLimitOf(subscription);
  // A delivery is on its way for a while, and the server's time begins before ours.
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

// The consumer's own goes before the queue's.
function declaredLimitOf({ queueOptions }: SubscriptionMetadata): number | undefined {
  const consumerArguments: unknown = queueOptions.consumerOptions?.arguments;
  for (const args of [consumerArguments, queueOptions.arguments]) {
    const limit = (args as Readonly<Record<string, unknown>> | undefined)?.['x-consumer-timeout'];
    if (typeof limit === 'number') return limit;
  }
  return undefined;
}
