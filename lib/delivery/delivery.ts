import type { Subscription } from '../subscription/subscription';
import { isOwnCopy } from './attempt';
import { type Headers, SettleHeaders, textHeaderOf } from './headers';
import type { IncomingMessage } from './message';

/**
 * One message, handed to one subscription.
 * @publicApi
 */
export interface Delivery<T = unknown> {
  readonly subscription: Subscription;
  /** How often the message may have been handed to this subscription, this time included; from 1 on. */
  readonly attempt: number;
  /** Whether no retry follows: `attempt` has reached `retry.attempts`. False without `retry`. */
  readonly isLastAttempt: boolean;
  /**
   * Aborts at `timeout` (reason `HandlerTimeoutError`), at the loss of the channel
   * (`ChannelLostError`), and `abortBefore` before a shutdown gives up waiting (`StoppingError`).
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

/** The one implementation of {@link Delivery}. */
export class DeliveryRecord implements Delivery {
  payload: unknown = undefined;
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;

  /** @param queue the queue's name on this channel: a server-named queue has another on each. */
  constructor(
    readonly subscription: Subscription,
    readonly message: IncomingMessage,
    readonly queue: string,
    readonly attempt: number,
  ) {}

  get isLastAttempt(): boolean {
    const { retry } = this.subscription;
    return retry !== undefined && this.attempt >= retry.attempts;
  }

  // Made when somebody asks: most handlers never look at it, and it costs more than all the rest.
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  /** Why the signal has aborted; `undefined` while it has not. */
  get abortReason(): Error | undefined {
    return this.#abortReason;
  }

  /** Aborts the signal; the first reason stays. */
  abort(reason: Error): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  get headers(): Headers {
    return this.message.properties.headers ?? {};
  }

  get exchange(): string {
    return this.#original(SettleHeaders.exchange) ?? this.message.fields.exchange;
  }

  get routingKey(): string {
    return this.#original(SettleHeaders.routingKey) ?? this.message.fields.routingKey;
  }

  get redelivered(): boolean {
    return this.message.fields.redelivered;
  }

  get messageId(): string | undefined {
    return this.message.properties.messageId;
  }

  get firstFailedAt(): Date | undefined {
    const text = this.#original(SettleHeaders.firstFailedAt);
    const date = text === undefined ? undefined : new Date(text);
    return date === undefined || Number.isNaN(date.getTime()) ? undefined : date;
  }

  #original(name: string): string | undefined {
    if (!isOwnCopy(this.message, this.queue)) return undefined;
    return textHeaderOf(this.message.properties.headers, name);
  }
}
