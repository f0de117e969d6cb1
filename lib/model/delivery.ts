import type { ConsumeMessage } from 'amqplib';
import type { SubscriptionMetadata } from './subscription-metadata';

/** A message as amqplib delivers it. */
export type IncomingMessage = ConsumeMessage;

/** The headers of a message; empty if the message has no header table. */
export type Headers = Readonly<Record<string, unknown>>;

/**
 * One message, handed to one subscription.
 * @publicApi
 */
export interface Delivery<T = unknown> {
  readonly subscription: SubscriptionMetadata;
  /** How often the message may have been handed to this subscription, this time included; from 1 on. */
  readonly attempt: number;
  /** Whether no retry follows: `attempt` has reached `retry.attempts`. False without `retry`. */
  readonly isLastAttempt: boolean;
  /**
   * Aborts at `timeout` (reason `HandlerTimeoutError`), at the loss of the channel
   * (`ChannelLostError`), and `abortGracePeriod` before a shutdown gives up waiting (`ShutdownError`).
   */
  readonly signal: AbortSignal;
  /** The decoded body; `undefined` until it has been decoded, and for an empty body. */
  readonly payload: T;
  /** The message as amqplib hands it over. Settling it by hand is not possible from here. */
  readonly message: IncomingMessage;
  readonly headers: Headers;
  /** The exchange to which the message was first published, on every attempt. */
  readonly exchange: string;
  /** The routing key with which the message was first published, on every attempt. */
  readonly routingKey: string;
  /** The queue that the message came from. */
  readonly queue: string;
  /** Whether the broker says that it has handed out this message before. */
  readonly redelivered: boolean;
  readonly messageId?: string | undefined;
  /** When attempt 1 failed; absent on attempt 1 and where a broker's own redelivery hid it. */
  readonly firstFailedAt?: Date | undefined;
}
