import type { SubscriptionMetadata } from './subscription-metadata';

/**
 * The dead-letter exchange that `queueOptions` give the queue, as a setting or as an argument; `undefined` if
 * they give none. The empty text is the default exchange.
 */
export function deadLetterExchangeOf({
  queueOptions,
}: Pick<SubscriptionMetadata, 'queueOptions'>): unknown {
  return queueOptions.deadLetterExchange ?? queueOptions.arguments?.['x-dead-letter-exchange'];
}
