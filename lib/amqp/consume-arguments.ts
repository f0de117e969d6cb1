import type { SubscriptionMetadata } from '../model/subscription-metadata';

/** The options of golevelup for the consumer, with what the subscription's own options add to its arguments. */
export function consumerOptionsOf({
  queueType,
  queueOptions: { consumerOptions },
  consumerPriority,
  consumerTimeout,
}: SubscriptionMetadata): NonNullable<SubscriptionMetadata['queueOptions']['consumerOptions']> {
  const added = {
    ...(consumerPriority !== undefined && { 'x-priority': consumerPriority }),
    // On classic queues RabbitMQ 4.3 refuses it, and releases before do not know it of consumers.
    ...(consumerTimeout !== undefined &&
      queueType === 'quorum' && { 'x-consumer-timeout': consumerTimeout }),
  };
  if (Object.keys(added).length === 0) return consumerOptions ?? {};
  return { ...consumerOptions, arguments: { ...consumerOptions?.arguments, ...added } };
}
