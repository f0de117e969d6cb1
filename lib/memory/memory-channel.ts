import type { SettleAction } from '../amqp/port';
import { texts } from '../log/texts';
import type { IncomingMessage } from '../model/delivery';
import type { MemoryQueue } from './memory-queue';
import type { QueueConsumer } from './queue-consumers';
import { copyOfTable, type StoredMessage } from './stored-message';

/** What a channel tells its consumer. */
export interface MemoryChannelListener {
  readonly noAck: boolean;
  delivered(message: IncomingMessage, channel: MemoryChannel): void;
  ended(reason: Error): void;
}

/**
 * A channel of the server in memory. It is strict: settling a delivery twice, or a tag that it never gave
 * out, throws, as the real one would close the channel.
 */
export class MemoryChannel implements QueueConsumer {
  readonly #unsettled = new Map<number, StoredMessage>();
  /** The tags that are left unsettled on purpose: they can't be settled any more. */
  readonly #left = new Set<number>();
  readonly #lost = new AbortController();
  #tag = 0;
  #consuming = false;
  #open = true;

  constructor(
    private readonly queue: MemoryQueue,
    private readonly prefetch: number,
    private readonly listener: MemoryChannelListener,
  ) {}

  get isConsuming(): boolean {
    return this.#consuming;
  }

  /** Aborts when the channel has ended. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** The tags that are not settled, in order. */
  get unsettled(): readonly number[] {
    return [...this.#unsettled.keys()];
  }

  get hasRoom(): boolean {
    return this.#consuming && this.#unsettled.size < this.prefetch;
  }

  /** @throws ServerError 404 where the queue is gone. */
  consume(): void {
    this.#consuming = true;
    this.queue.consume(this);
  }

  cancel(): void {
    this.#consuming = false;
    this.queue.cancel(this);
  }

  take(stored: StoredMessage): void {
    this.#tag += 1;
    if (this.listener.noAck) this.queue.acknowledged();
    else this.#unsettled.set(this.#tag, stored);
    this.listener.delivered(asDelivered(stored, this.#tag, this.queue), this);
  }

  /**
   * Settles one delivery; `false` where the channel has ended.
   * @throws Error for a tag that is unknown or settled.
   */
  settle(tag: number, action: SettleAction): boolean {
    if (!this.#open) return false;
    const stored = this.#left.has(tag) ? undefined : this.#unsettled.get(tag);
    if (stored === undefined) throw new Error(texts.settledTwice(tag));
    this.#unsettled.delete(tag);
    if (action === 'ack') this.queue.acknowledged();
    else if (action === 'reject') this.queue.rejected(stored);
    else this.queue.returned(stored, action);
    return true;
  }

  /** @throws Error for a tag that is unknown or settled. */
  leave(tag: number): void {
    if (!this.#open) return;
    if (!this.#unsettled.has(tag) || this.#left.has(tag)) {
      throw new Error(texts.settledTwice(tag));
    }
    this.#left.add(tag);
  }

  cancelled(): void {
    this.#end(new Error(texts.cancelledByServer(this.queue.name)));
  }

  /** The channel dies, as by a lost connection: what it has not settled comes again. */
  die(reason = new Error(texts.channelClosed)): void {
    this.#end(reason);
  }

  /** Ends the channel on purpose; what was left unsettled goes back. */
  close(): void {
    this.#end(new Error(texts.channelClosed));
  }

  #end(reason: Error): void {
    if (!this.#open) return;
    this.cancel();
    this.#open = false;
    this.#lost.abort();
    const left = [...this.#unsettled.values()];
    this.#unsettled.clear();
    for (const stored of left) this.queue.returned(stored, 'lost');
    this.listener.ended(reason);
  }
}

function asDelivered(
  stored: StoredMessage,
  deliveryTag: number,
  queue: MemoryQueue,
): IncomingMessage {
  const { body, exchange, routingKey, redelivered, properties, headers } = stored;
  const counted =
    queue.isQuorum && redelivered
      ? {
          ...(stored.deliveryCount > 0 && { 'x-delivery-count': stored.deliveryCount }),
          ...queue.acquiredHeader(stored),
        }
      : {};
  const table =
    headers === undefined && Object.keys(counted).length === 0
      ? undefined
      : { ...copyOfTable(headers ?? {}), ...counted };
  return {
    content: Buffer.from(body),
    fields: { consumerTag: 'memory', deliveryTag, redelivered, exchange, routingKey },
    // amqplib gives every property, most of them undefined.
    properties: { ...properties, headers: table } as unknown as IncomingMessage['properties'],
  };
}
