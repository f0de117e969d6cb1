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

/** The causes of a pause, the most important first. */
export const PAUSE_CAUSES = [
  'operator',
  'stuck',
  'tripped',
  'pauseFor',
  'republishFailed',
] as const;

/**
 * Why a subscription is paused:
 * - `operator`: `SubscriptionRegistry.pause()` was called;
 * - `stuck`: an ordered message cannot be handled, and `order.whenStuck` is `'pause'`;
 * - `tripped`: its kill switch has tripped;
 * - `pauseFor`: an outcome or a policy was `pauseFor()`;
 * - `republishFailed`: a message could not be republished.
 *
 * Causes begin and end independently of each other; a subscription consumes when none is left.
 * @publicApi
 */
export type PauseCause = (typeof PAUSE_CAUSES)[number];

/**
 * The key of an ordered subscription that has the most deliveries.
 * @publicApi
 */
export interface BusiestKey {
  readonly key: string;
  /** How many of its deliveries run, wait for their turn, or wait for a retry. */
  readonly deliveries: number;
}

/**
 * A subscription at one moment.
 * @publicApi
 */
export interface SubscriptionStatus {
  readonly subscription: SubscriptionMetadata;
  readonly state: SubscriptionState;
  /** Why it is paused, the most important cause if there are several; only in the state `paused`. */
  readonly cause?: PauseCause;
  /** Deliveries that are running or being settled. */
  readonly inFlight: number;
  /** Deliveries that `concurrency`, `rate`, `batch` or `order` holds back: their handling has not begun. */
  readonly waiting: number;
  /** Only with `order`, while deliveries with a key are in flight or wait. */
  readonly busiestKey?: BusiestKey;
  /** Deliveries that have been in flight longer than `stuckAfter`, since the start. */
  readonly stuck: number;
  /** Settlements that were not sent, since their channel had closed. */
  readonly abandoned: number;
  /** Since when the state and its cause have been what they are. */
  readonly since: Date;
  /** Why the subscription was not consuming the last time. */
  readonly lastError?: Error;
}

/**
 * A change of a subscription's state, or of the cause of its pause.
 * @publicApi
 */
export interface SubscriptionStateChange {
  readonly subscription: SubscriptionMetadata;
  readonly from: SubscriptionState;
  /** The same as `from` if only the cause of the pause has changed. */
  readonly to: SubscriptionState;
  /** Why it is paused; only if `to` is `paused`. */
  readonly cause?: PauseCause;
  /** What led to the change, if an error did. */
  readonly error?: unknown;
  readonly at: Date;
}

/**
 * A delivery that is running or being settled.
 * @publicApi
 */
export interface DeliveryInFlight {
  readonly subscription: SubscriptionMetadata;
  /** The queue that the message came from. */
  readonly queue: string;
  readonly messageId?: string | undefined;
  readonly attempt: number;
  /** How long ago its handling began, in ms. */
  readonly ageMs: number;
  /** Whether it has been reported, since it has been in flight longer than `stuckAfter`. */
  readonly isStuck: boolean;
}
