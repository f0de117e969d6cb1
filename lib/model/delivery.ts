import type { ConsumeMessage } from 'amqplib';
import type { SubscriptionMetadata } from './subscription-metadata';

/** A message as amqplib delivers it. */
export type IncomingMessage = ConsumeMessage;

/** The headers of a message; empty if the message has no header table. */
export type Headers = Readonly<Record<string, unknown>>;

/**
 * One message delivered to one subscription.
 * @publicApi
 */
export interface Delivery<T = unknown> {
  readonly subscription: SubscriptionMetadata;
  /** The number of this attempt, from 1; after a crash it can be higher than the number of calls. */
  readonly attempt: number;
  /** Whether no retry follows: `attempt` has reached `retry.attempts`. False without `retry`. */
  readonly isLastAttempt: boolean;
  /**
   * Aborts at `timeout` (reason `HandlerTimeoutError`), when the channel closes (`ChannelLostError`), and
   * `abortGracePeriod` before `shutdownTimeout` expires (`ShutdownError`).
   */
  readonly signal: AbortSignal;
  /**
   * The decoded body; `undefined` until it has been decoded, and for an empty body without
   * `allowNonJsonMessages`.
   */
  readonly payload: T;
  /**
   * The message as amqplib delivers it; `fields.exchange` and `fields.routingKey` are those of its first
   * publish, on every attempt.
   */
  readonly message: IncomingMessage;
  readonly headers: Headers;
  /** The exchange to which the message was first published, on every attempt. */
  readonly exchange: string;
  /** The routing key with which the message was first published, on every attempt. */
  readonly routingKey: string;
  /** The queue that the message came from. */
  readonly queue: string;
  /** Whether RabbitMQ flags the message as redelivered. */
  readonly redelivered: boolean;
  readonly messageId?: string | undefined;
  /** When attempt 1 failed; absent on attempt 1, and if RabbitMQ itself redelivered the message. */
  readonly firstFailedAt?: Date | undefined;
}
