import type { Delivery, Headers, IncomingMessage } from '../model/delivery';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { isRepublished } from './attempt';
import { SettleHeaders, textHeaderOf } from './headers';

/** The one implementation of {@link Delivery}. */
export class DeliveryRecord implements Delivery {
  payload: unknown = undefined;
  /** Whether `payload` is the decoded body; an empty one is `undefined`, too. */
  isDecoded = false;
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;

  /** @param queue the name of the queue on this channel: a server-named queue has another on each. */
  constructor(
    readonly subscription: SubscriptionMetadata,
    readonly message: IncomingMessage,
    readonly queue: string,
    readonly attempt: number,
  ) {}

  get isLastAttempt(): boolean {
    const { retry } = this.subscription;
    return retry !== undefined && this.attempt >= retry.attempts;
  }

  // Created on first use: most handlers never read it, and it costs more than all the rest.
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  /** Why the signal has aborted; `undefined` if it has not. */
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
    if (!isRepublished(this.message, this.queue)) return undefined;
    return textHeaderOf(this.message.properties.headers, name);
  }
}
