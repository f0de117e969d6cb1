import type { HeldMessage, QueueSession, SessionLimits } from '../amqp/queue-client';
import type { Clock } from '../clock';
import { texts } from '../log/texts';
import type { IncomingMessage } from '../model/delivery';
import { MemoryChannel } from './memory-channel';
import type { MemoryQueue } from './memory-queue';

/** How many turns nothing arrives until nothing more is expected. */
const QUIET_TURNS = 3;

/** A session on the server in memory. What is kept does not count against its window. */
export class MemoryQueueSession implements QueueSession {
  readonly #channel: MemoryChannel;
  #arrived: HeldMessage[] = [];
  #given = 0;
  #failure: Error | undefined;

  constructor(
    private readonly queue: MemoryQueue,
    private readonly limits: SessionLimits,
    private readonly clock: Clock,
  ) {
    const options = { prefetch: limits.most, noAck: false };
    const listener = {
      delivered: (message: IncomingMessage) => this.#delivered(message),
      closed: (reason: Error) => {
        this.#failure ??= reason;
      },
    };
    this.#channel = new MemoryChannel(queue, options, listener, clock);
    this.#channel.consume();
  }

  async next(): Promise<HeldMessage | undefined> {
    if (this.#given >= this.limits.most) return undefined;
    for (let turn = 0; this.#arrived.length === 0 && turn < QUIET_TURNS; turn += 1) {
      await new Promise<void>((resolve) => this.clock.nextTurn(resolve));
    }
    const message = this.#arrived.shift();
    if (message !== undefined) {
      this.#given += 1;
      return message;
    }
    if (this.#failure !== undefined) throw this.#failure;
    const ready = this.queue.ready.length;
    if (ready > 0 && this.#channel.hasCapacity) {
      throw new Error(texts.noDeliveries(this.queue.name, ready));
    }
    return undefined;
  }

  async end(): Promise<Error | undefined> {
    if (this.#channel.lost.aborted) return this.#failure ?? new Error(texts.channelClosed);
    this.#channel.cancel();
    for (const tag of this.#channel.unsettled) this.#channel.settle(tag, 'requeueUnprocessed');
    this.close();
    return undefined;
  }

  /** Closes the channel; what is unsettled returns to the queue. */
  close(): void {
    this.#channel.close();
  }

  #delivered(message: IncomingMessage): void {
    const { deliveryTag } = message.fields;
    this.#arrived.push({
      message,
      acknowledge: (written) => written(this.#channel.settle(deliveryTag, 'ack')),
      keep: () => {},
    });
  }
}
