import { setMaxListeners } from 'node:events';
import type { SettleAction, Written } from '../amqp/port';
import { type Clock, sleep, within } from '../clock';
import { texts } from '../log/texts';
import type { IncomingMessage } from '../model/delivery';
import { Acknowledger } from './acknowledger';
import { type ChannelDelivery, deliveredMessage } from './channel-delivery';
import type { ClosedChannel } from './reconnect-pause';
import type { RawChannel, RawConnection } from './types';

/** Called with each message that a channel delivers. */
export type OnMessage = (message: IncomingMessage) => void;

/** How a subscription consumes. */
export interface ConsumeOptions {
  readonly queue: string;
  readonly prefetch: number;
  readonly options: Parameters<RawChannel['consume']>[2];
  /** Whether the server may hold acknowledgements back from the queue. */
  readonly isDrained: boolean;
}

/** How long RabbitMQ may take to confirm that a consumer is cancelled, in ms. */
const CANCEL_LIMIT = 10_000;
const DRAINING_TURNS = 4;
/** Between them, in ms. */
const DRAINING_PAUSE = 5;

/** The server has cancelled the consumer: its queue was deleted, its node failed, or an acknowledgement took too long. */
export class ConsumerCancelled extends Error {
  override readonly name = 'ConsumerCancelled';
}

/**
 * One channel of one subscription, with its own error listener: what goes wrong on it ends it and
 * nothing else. Settles only what it has delivered itself.
 */
export class ConsumerChannel {
  /** Resolves with the reason when the channel has ended, in whatever way. Never rejects. */
  readonly ended: Promise<Error>;
  readonly #acknowledger: Acknowledger<ChannelDelivery>;
  readonly #lost = new AbortController();
  readonly #openedAt: number;
  /** Called with each delivery that is being settled, once that is decided. */
  onSettled: ((delivery: ChannelDelivery) => void) | undefined;
  /** When a delivery was last requeued for a retry, on the monotonic scale. */
  lastRetryAt = Number.NEGATIVE_INFINITY;
  #hasSettled = false;
  #consumerTag: string | undefined;
  #prefetch = 0;
  #drainedQueue: string | undefined;
  #open = true;
  #end: (reason: Error) => void = () => {};

  private constructor(
    readonly raw: RawChannel,
    private readonly onMessage: OnMessage,
    private readonly clock: Clock,
  ) {
    // Each copy under way listens: as many as the prefetch.
    setMaxListeners(0, this.#lost.signal);
    this.#openedAt = clock.monotonic();
    this.#acknowledger = new Acknowledger(
      (delivery, multiple) => raw.ack(deliveredMessage(delivery), multiple),
      clock,
    );
    this.ended = new Promise((resolve) => {
      let reason: Error | undefined;
      this.#end = (error) => {
        this.#open = false;
        this.#lost.abort();
        resolve(error);
      };
      raw.on('error', (error: Error) => {
        reason = error;
      });
      raw.on('close', () => this.#end(reason ?? new Error(texts.channelClosed)));
    });
  }

  /** Opens a channel on a connection; rejects where the connection is closing. */
  static async open(
    connection: RawConnection,
    onMessage: OnMessage,
    clock: Clock,
  ): Promise<ConsumerChannel> {
    return new ConsumerChannel(await connection.createChannel(), onMessage, clock);
  }

  /** Aborts when the channel has ended. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  get isConsuming(): boolean {
    return this.#open && this.#consumerTag !== undefined;
  }

  /** The prefetch with which it consumes; 0 if it does not. */
  get prefetch(): number {
    return this.isConsuming ? this.#prefetch : 0;
  }

  /** Starts the consumer; rejects with the error of the broker if it refuses. */
  async consume({ queue, prefetch, options, isDrained }: ConsumeOptions): Promise<void> {
    await this.raw.prefetch(prefetch);
    if (isDrained) this.#drainedQueue = queue;
    const { consumerTag } = await this.raw.consume(
      queue,
      (message) => {
        if (message === null) this.#cancelledByServer(queue);
        else if (this.#open) this.onMessage(message);
      },
      options,
    );
    this.#consumerTag = consumerTag;
    this.#prefetch = prefetch;
  }

  /**
   * Cancels the consumer; resolves once the broker has confirmed it, or the channel has closed. A channel on
   * which that takes longer than 10 s is closed: a node that can't reach the queue may never confirm it.
   */
  async cancel(): Promise<void> {
    const tag = this.#consumerTag;
    if (tag === undefined || !this.#open) return;
    this.#consumerTag = undefined;
    // A rejection means that the channel has closed, as `ended` reports.
    const cancelled = Promise.race([this.raw.cancel(tag), this.ended]);
    if (await within(this.clock, CANCEL_LIMIT, cancelled)) return;
    this.#acknowledger.flush();
    this.#end(new Error(texts.cancelUnconfirmed(CANCEL_LIMIT)));
    void this.#closeRaw();
  }

  /** The delivery that has been unsettled for longest; also once the channel has ended. */
  get oldest(): ChannelDelivery | undefined {
    return this.#acknowledger.oldest;
  }

  /** How many deliveries are not settled. */
  get unsettled(): number {
    return this.#acknowledger.unsettled;
  }

  /** How long the channel has been open, and what it has done. */
  get usage(): ClosedChannel {
    return {
      ageMs: this.clock.monotonic() - this.#openedAt,
      hasSettled: this.#hasSettled,
      isOldestRedelivered: this.oldest?.message.fields?.redelivered,
    };
  }

  arrived(delivery: ChannelDelivery): void {
    this.#acknowledger.arrived(delivery);
  }

  settle(delivery: ChannelDelivery, action: SettleAction, written: Written): void {
    if (!this.#open) return written(false);
    this.#hasSettled = true;
    if (action === 'requeueFailed') this.lastRetryAt = this.clock.monotonic();
    if (action === 'ack') this.#acknowledger.acknowledge(delivery, written);
    else {
      this.#acknowledger.settled(delivery);
      written(this.#write(delivery, action));
    }
    this.onSettled?.(delivery);
  }

  /**
   * Writes the pending acknowledgements and asks the queue for its state: what was written before has reached
   * it, and what it had delivered before has arrived, when this resolves. `false`: the channel has ended.
   */
  async reachQueue(queue: string): Promise<boolean> {
    this.#acknowledger.flush();
    await Promise.race([this.#askQueue(queue), this.ended]);
    return this.#open;
  }

  /**
   * Writes the pending acknowledgements and closes, with round trips to the queue and one to the
   * channel: what was written before has reached the queue when it resolves.
   */
  async close(limitMs: number): Promise<void> {
    if (!this.#open) return;
    this.#acknowledger.flush();
    this.#open = false;
    // A connection that breaks meanwhile ends the channel without an answer to the close.
    await within(this.clock, limitMs, Promise.race([this.#drain(), this.ended]));
    this.#end(new Error(texts.channelClosed));
  }

  // RabbitMQ forwards about thirty acknowledgements at a time to a quorum queue. Those that it still holds when
  // the channel closes are lost, and their messages redelivered (seen on 3.10, 4.0 and 4.3, up to hundreds).
  // Each passive declare lets it forward more; two were enough for thousands.
  async #drain(): Promise<void> {
    if (this.#drainedQueue !== undefined) await this.#askQueue(this.#drainedQueue, DRAINING_TURNS);
    await this.#closeRaw();
  }

  async #askQueue(queue: string, turns = 1): Promise<void> {
    try {
      for (let turn = 0; turn < turns; turn += 1) {
        if (turn > 0) await sleep(this.clock, DRAINING_PAUSE);
        await this.raw.checkQueue(queue);
      }
    } catch {
      // The queue was deleted or the channel has closed: nothing is left to forward.
    }
  }

  #write(delivery: ChannelDelivery, action: Exclude<SettleAction, 'ack'>): boolean {
    try {
      const message = deliveredMessage(delivery);
      // Since RabbitMQ 4.3 a nack that requeues is not counted, and a reject is.
      if (action === 'requeueUnprocessed') this.raw.nack(message, false, true);
      else this.raw.reject(message, action === 'requeueFailed');
      return true;
    } catch {
      return false; // amqplib throws once the channel closes: the message will be redelivered.
    }
  }

  #cancelledByServer(queue: string): void {
    this.#consumerTag = undefined;
    this.#acknowledger.flush();
    this.#end(new ConsumerCancelled(texts.cancelledByServer(queue)));
    // At once: amqplib ends the connection over a second cancel, which follows when another
    // acknowledgement takes too long.
    void this.#closeRaw();
  }

  async #closeRaw(): Promise<void> {
    try {
      await this.raw.close();
    } catch {
      // It was closed already.
    }
  }
}
