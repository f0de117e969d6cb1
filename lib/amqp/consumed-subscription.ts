import type { SubscriptionMetadata } from '../model/subscription-metadata';

/** What a consumer declares and consumes: one subscription, or those of several methods of one queue. */
export interface ConsumedSubscription extends SubscriptionMetadata {
  readonly methods?: readonly SubscriptionMetadata[];
}

/** The subscriptions of a consumer, each with its own retries and dead letters. */
export function methodsOf(subscription: ConsumedSubscription): readonly SubscriptionMetadata[] {
  return subscription.methods ?? [subscription];
}
