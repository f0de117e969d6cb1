import type { SubscriptionMetadata } from './subscription-metadata';

/**
 * How long a delivery may stay unacknowledged, in ms, as the subscription declares it; `undefined` if it does
 * not: the server's own limit, which it tells nobody, then applies.
 */
export function consumerTimeoutOf({
  consumerTimeout,
  queueOptions,
}: SubscriptionMetadata): number | undefined {
  if (consumerTimeout !== undefined) return consumerTimeout;
  // That of the consumer takes precedence over that of the queue.
  const consumerArguments: unknown = queueOptions.consumerOptions?.arguments;
  for (const args of [consumerArguments, queueOptions.arguments]) {
    const limit = (args as Readonly<Record<string, unknown>> | undefined)?.['x-consumer-timeout'];
    if (typeof limit === 'number') return limit;
  }
  return undefined;
}
