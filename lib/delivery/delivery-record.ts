import { AsyncResource } from 'node:async_hooks';
import type { Delivery, Headers, IncomingMessage } from '../model/delivery';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { isRepublished } from './attempt';
import { headerOf, SettleHeaders, textHeaderOf } from './headers';

/** The one implementation of {@link Delivery}. */
export class DeliveryRecord implements Delivery {
  payload: unknown = undefined;
  /** Whether `payload` is the decoded body; an empty one is `undefined`, too. */
  isDecoded = false;
  /**
   * What the header `x-settle-trace` of a republished message is to be; set by tracing. Before, of a delivery that
   * is handled again in this process: what it would have been.
   */
  trace: string | undefined = undefined;
  /** What `order.by` threw: the delivery then fails with it. */
  keyFailure: { readonly error: unknown } | undefined;
  readonly exchange: string;
  readonly routingKey: string;
  readonly #isRepublished: boolean;
  #context = new AsyncResource('SettleDelivery');
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;

  /**
   * Gives a republished message the address of its first publish, also in `message.fields`: whatever reads
   * the address with which this library republished it comes before.
   * @param queue the name of the queue on this channel: a server-named queue has another on each.
   */
  constructor(
    readonly subscription: SubscriptionMetadata,
    readonly message: IncomingMessage,
    readonly queue: string,
    readonly attempt: number,
    isOfThisLibrary = isRepublished(message, queue),
  ) {
    this.#isRepublished = isOfThisLibrary;
    const { fields } = message;
    this.exchange = this.#original(SettleHeaders.exchange) ?? fields.exchange;
    this.routingKey = this.#original(SettleHeaders.routingKey) ?? fields.routingKey;
    if (!this.#isRepublished) return;
    // The same message with other fields: it is settled, and known to instrumentations, by its identity.
    message.fields = { ...fields, exchange: this.exchange, routingKey: this.routingKey };
  }

  /** The same delivery, to be handled again in this process. */
  nextAttempt(): DeliveryRecord {
    const { subscription, message, queue, attempt } = this;
    const next = new DeliveryRecord(subscription, message, queue, attempt + 1, this.#isRepublished);
    next.trace = this.trace;
    return next;
  }

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
    const controller = this.#controller;
    if (controller !== undefined) this.inContext(() => controller.abort(reason));
  }

  /** Makes the current asynchronous context that of this delivery; first it is that of its arrival. */
  captureContext(): void {
    this.#context = new AsyncResource('SettleDelivery');
  }

  /**
   * Runs something in the asynchronous context of this delivery. Deliveries share timers and flushes, which
   * run in the context of the delivery that started them.
   */
  inContext<T>(work: () => T): T {
    return this.#context.runInAsyncScope(work);
  }

  get headers(): Headers {
    return this.message.properties.headers ?? {};
  }

  get redelivered(): boolean {
    return this.message.fields.redelivered;
  }

  get messageId(): string | undefined {
    return this.message.properties.messageId;
  }

  /** Whether this library has republished the message for a retry: a dead letter that was put back is new. */
  get isRetried(): boolean {
    const { headers } = this.message.properties;
    return this.#isRepublished && headerOf(headers, SettleHeaders.attempt) !== undefined;
  }

  get firstFailedAt(): Date | undefined {
    if (!this.isRetried) return undefined;
    const text = this.#original(SettleHeaders.firstFailedAt);
    const date = text === undefined ? undefined : new Date(text);
    return date === undefined || Number.isNaN(date.getTime()) ? undefined : date;
  }

  /**
   * What is known of the attempts before: whether the message was republished for a retry, and how long ago
   * it first failed, in ms.
   * @param now ms since the epoch.
   */
  earlierAttempts(now: number): {
    readonly isRetried: boolean;
    readonly ageMs: number | undefined;
  } {
    const { isRetried, firstFailedAt } = this;
    return { isRetried, ageMs: firstFailedAt && now - firstFailedAt.getTime() };
  }

  #original(name: string): string | undefined {
    if (!this.#isRepublished) return undefined;
    return textHeaderOf(this.message.properties.headers, name);
  }
}
