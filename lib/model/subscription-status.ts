import type { SubscriptionMetadata } from './subscription-metadata';

/**
 * What a subscription is doing; `disabled`: its connection has `registerHandlers: false`.
 * @publicApi
 */
export type SubscriptionState =
  | 'starting'
  | 'consuming'
  | 'paused'
  | 'reconnecting'
  | 'refused'
  | 'disabled'
  | 'stopped';

/**
 * A subscription at one moment.
 * @publicApi
 */
export interface SubscriptionStatus {
  readonly subscription: SubscriptionMetadata;
  readonly state: SubscriptionState;
  /** Deliveries that are running or being settled. */
  readonly inFlight: number;
  /** Settlements that were not sent, since their channel had closed. */
  readonly abandoned: number;
  /** Since when the state has been what it is. */
  readonly since: Date;
  /** Why the subscription was not consuming the last time. */
  readonly lastError?: Error;
}
