import { randomBytes } from 'node:crypto';
import type { SettleAction } from '../amqp/port';
import type { Clock } from '../clock';
import { texts } from '../log/texts';
import type { IncomingMessage } from '../model/delivery';
import { AcknowledgementDeadline } from './acknowledgement-deadline';
import type { MemoryQueue } from './memory-queue';
import type { QueueConsumer } from './queue-consumers';
import { copyOfTable, type StoredMessage, type Table } from './stored-message';
import { decodedPropertiesOf } from './wire-properties';

/** How a channel consumes: amqplib's options, and the prefetch. */
export interface MemoryConsumeOptions {
  readonly prefetch: number;
  readonly noAck: boolean;
  readonly consumerTag?: string | undefined;
  readonly exclusive?: boolean | undefined;
  readonly priority?: number | undefined;
  readonly arguments?: Table | undefined;
}

/** Receives what a channel reports. */
export interface MemoryChannelListener {
  delivered(message: IncomingMessage, channel: MemoryChannel): void;
  closed(reason: Error): void;
}

/**
 * A channel of the server in memory. It is strict: settling a delivery twice, or a tag that it has not
 * delivered, throws; the real server would close the channel.
 */
export class MemoryChannel implements QueueConsumer {
  readonly isExclusive: boolean;
  readonly priority: number;
  readonly #consumerTag: string;
  readonly #arguments: Table;
  readonly #unsettled = new Map<number, StoredMessage>();
  /** The tags that are left unsettled on purpose: they can't be settled any more. */
  readonly #left = new Set<number>();
  readonly #deadline: AcknowledgementDeadline;
  readonly #lost = new AbortController();
  #tag = 0;
  #prefetch = 0;
  #isOpen = true;

  constructor(
    private readonly queue: MemoryQueue,
    private readonly options: MemoryConsumeOptions,
    private readonly listener: MemoryChannelListener,
    clock: Clock,
  ) {
    const { exclusive = false, consumerTag, priority } = options;
    this.isExclusive = exclusive;
    this.#arguments = {
      ...options.arguments,
      ...(priority !== undefined && { 'x-priority': priority }),
    };
    this.priority = Number(this.#arguments['x-priority'] ?? 0);
    this.#consumerTag = consumerTag || `amq.ctag-${randomBytes(16).toString('base64url')}`;
    const limit = queue.rules.acknowledgementLimitOf(this.#arguments);
    this.#deadline = new AcknowledgementDeadline(clock, limit, (tag, ageMs) =>
      this.#overdue(tag, ageMs, limit),
    );
  }

  get isConsuming(): boolean {
    return this.#prefetch > 0;
  }

  /** The prefetch with which it consumes; 0 if it does not. */
  get prefetch(): number {
    return this.#prefetch;
  }

  /** Aborts when the channel closes. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** The tags that are not settled, in order. */
  get unsettled(): readonly number[] {
    return [...this.#unsettled.keys()];
  }

  get hasUnsettled(): boolean {
    return this.#unsettled.size > 0;
  }

  get hasCapacity(): boolean {
    return this.#unsettled.size < this.#prefetch;
  }

  /** @throws ServerError if the queue was deleted, or does not take this consumer. */
  consume(prefetch = this.options.prefetch): void {
    this.#prefetch = prefetch;
    try {
      this.queue.consume(this, this.#arguments);
    } catch (error) {
      this.#prefetch = 0;
      throw error;
    }
  }

  cancel(): void {
    this.#prefetch = 0;
    this.queue.cancel(this);
  }

  deliver(stored: StoredMessage): void {
    this.#tag += 1;
    if (this.options.noAck) this.queue.acknowledged();
    else {
      this.#unsettled.set(this.#tag, stored);
      this.#deadline.delivered(this.#tag);
    }
    this.listener.delivered(this.#decoded(stored), this);
  }

  /**
   * Settles one delivery; returns false if the channel has closed.
   * @throws Error for a tag that is unknown or settled.
   */
  settle(tag: number, action: SettleAction): boolean {
    if (!this.#isOpen) return false;
    const stored = this.#left.has(tag) ? undefined : this.#unsettled.get(tag);
    if (stored === undefined) throw new Error(texts.settledTwice(tag));
    this.#unsettled.delete(tag);
    this.#deadline.settled(tag);
    if (action === 'ack') this.queue.acknowledged();
    else if (action === 'reject') this.queue.rejected(stored);
    else this.queue.returned(stored, action);
    return true;
  }

  /** @throws Error for a tag that is unknown or settled. */
  leave(tag: number): void {
    if (!this.#isOpen) return;
    if (!this.#unsettled.has(tag) || this.#left.has(tag)) {
      throw new Error(texts.settledTwice(tag));
    }
    this.#left.add(tag);
  }

  cancelled(): void {
    this.close(new Error(texts.cancelledByServer(this.queue.name)));
  }

  /** Closes the channel, on purpose or as a lost connection does: what is unsettled returns to the queue. */
  close(reason = new Error(texts.channelClosed)): void {
    if (!this.#isOpen) return;
    this.cancel();
    this.#isOpen = false;
    this.#deadline.stop();
    this.#lost.abort();
    const left = [...this.#unsettled.values()];
    this.#unsettled.clear();
    for (const stored of left) this.queue.returned(stored, 'channelClosed');
    this.listener.closed(reason);
  }

  // From 4.3 on the server cancels the consumer and requeues the message; before, it closes the channel.
  #overdue(tag: number, ageMs: number, limitMs: number): void {
    const stored = this.#unsettled.get(tag);
    if (stored === undefined) return;
    const { messageId } = stored.properties;
    const oldest = { messageId: messageId as string | undefined, ageMs };
    if (this.queue.rules.requeuesOverdue) {
      this.#unsettled.delete(tag);
      this.queue.returned(stored, 'overdue');
    }
    this.close(new Error(texts.acknowledgementOverdue(oldest, limitMs)));
  }

  #decoded(stored: StoredMessage): IncomingMessage {
    const { body, exchange, routingKey, redelivered, properties, headers } = stored;
    const counts = this.queue.rules.countHeadersOf(stored);
    const table =
      headers === undefined && Object.keys(counts).length === 0
        ? undefined
        : { ...copyOfTable(headers ?? {}), ...counts };
    const consumerTag = this.#consumerTag;
    return {
      content: Buffer.from(body),
      fields: { consumerTag, deliveryTag: this.#tag, redelivered, exchange, routingKey },
      properties: decodedPropertiesOf(
        properties,
        table,
      ) as unknown as IncomingMessage['properties'],
    };
  }
}
