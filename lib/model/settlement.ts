import type { Decision } from './decision';
import type { Delivery } from './delivery';
import type { RepublishError } from './errors';
import type { Outcome } from './outcome';
import type { SubscriptionMetadata } from './subscription-metadata';

/**
 * What became of a decision:
 * - `sent`: its frames were written to an open channel; AMQP does not reply to an acknowledgement;
 * - `abandoned`: the channel that delivered the message had closed, so it will be redelivered;
 * - `republishFailed`: the message could not be republished and was requeued;
 * - `released`: the message was requeued without an attempt, since its subscription stops or is paused;
 * - `none`: there was nothing to send, or the message is left unacknowledged on purpose.
 * @publicApi
 */
export type SettlementStatus = 'sent' | 'abandoned' | 'republishFailed' | 'released' | 'none';

/**
 * A message that a settlement has published, or tried to: for a retry or as a dead letter.
 * @publicApi
 */
export interface RepublishedMessage {
  /** The queue to which it was published: the subscription's own, a waiting queue, or the dead-letter queue. */
  readonly queue: string;
  /** How long it is to wait, in ms; 0 if it does not wait. */
  readonly delayMs: number;
  readonly body: Buffer;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
}

/**
 * What happened to one delivery.
 * @publicApi
 */
export interface Settlement {
  readonly subscription: SubscriptionMetadata;
  readonly delivery: Delivery;
  readonly outcome: Outcome;
  readonly decision: Decision;
  readonly attempt: number;
  /** From the start of the delivery's handling to its settlement, in ms; without the time that it waited. */
  readonly durationMs: number;
  /** How many deliveries the method was called with, if `batch` is set and it was called. */
  readonly batchSize?: number;
  /** The error of a handler that failed; absent if it returned or threw an outcome. */
  readonly error?: unknown;
  /** The message that the decision published, or tried to, as it was written. */
  readonly republished?: RepublishedMessage;
  /** Why the message could not be republished; present whatever became of it then. */
  readonly republishError?: RepublishError;
  readonly status: SettlementStatus;
}
