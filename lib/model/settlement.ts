import type { Decision } from './decision';
import type { Delivery } from './delivery';
import type { Outcome } from './outcome';
import type { SubscriptionMetadata } from './subscription-metadata';

/**
 * What became of a decision:
 * - `sent`: its frames were written to an open channel; AMQP has no reply to an acknowledgement;
 * - `abandoned`: the channel that delivered the message was gone, so the broker hands it out again;
 * - `republishFailed`: the copy could not be confirmed in time, and the original was released;
 * - `released`: the delivery went back to the queue, since the service was stopping;
 * - `none`: there was nothing to send, or the delivery is left unsettled.
 */
export type SettlementStatus = 'sent' | 'abandoned' | 'republishFailed' | 'released' | 'none';

/** A copy that a settlement has sent, or tried to. */
export interface RepublishedMessage {
  /** The queue to which it was published: the subscription's own, a waiting queue, or the dead-letter queue. */
  readonly queue: string;
  /** How long it waits, in ms, before the grid rounds it up; 0 where it does not wait. */
  readonly delayMs: number;
  readonly body: Buffer;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
}

/**
 * A decision carried out, or what became of it.
 * @publicApi
 */
export interface Settlement {
  readonly subscription: SubscriptionMetadata;
  readonly delivery: Delivery;
  readonly outcome: Outcome;
  readonly decision: Decision;
  readonly attempt: number;
  /** From the delivery's arrival to its settlement, in ms. */
  readonly durationMs: number;
  /** What made a failure policy speak; absent where the handler's own outcome was settled. */
  readonly error?: unknown;
  /** The copy that the decision asked for. */
  readonly republished?: RepublishedMessage;
  readonly status: SettlementStatus;
}
