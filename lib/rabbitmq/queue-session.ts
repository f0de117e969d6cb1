import type { HeldMessage, QueueSession, SessionLimits } from '../amqp/queue-client';
import { isAtLeast } from '../amqp/queue-declarations';
import { type Clock, sleep, within } from '../clock';
import { texts } from '../log/texts';
import type { IncomingMessage } from '../model/delivery';
import { Acknowledger, type Tagged } from './acknowledger';
import { Arrivals } from './arrivals';
import { connectionErrorOf } from './connection-error';
import { serverVersionOf } from './managed-connection';
import { onScratchChannel } from './scratch-channel';
import type { RawChannel, RawConnection } from './types';

/** The largest prefetch count of AMQP 0-9-1. */
const MOST_PREFETCH = 65_535;
/** The largest prefetch count of a consumer that replaces another. */
const MOST_RENEWED = 4_096;
/** How long nothing arrives until the queue is asked whether anything is left, in ms. */
const QUIET = 50;
/** How long messages may be ready without being delivered, in ms. */
const STALLED = 5_000;
const CLOSING_LIMIT = 10_000;
/** How long the messages may take to be ready again after the session, in ms; other consumers can have them. */
const RETURN_LIMIT = 500;
const RETURN_INTERVAL = 5;
/** The body of a kept message: the broker has it. */
const NO_BYTES = Buffer.alloc(0);

/** A consumer of the session; it is replaced when what is kept takes too much of its prefetch. */
interface Consumer {
  tag: string;
  /** How many of its messages are not acknowledged. */
  unsettled: number;
  kept: number;
}

/** A message that is not acknowledged, in the list of the acknowledger. */
interface Arrived extends Tagged<Arrived> {
  readonly message: IncomingMessage;
}

/**
 * A session on a channel of its own. Prefetch bounds what a consumer has unacknowledged, kept messages
 * included: when these fill half of it, the consumer is cancelled and another one goes on with a new and
 * larger prefetch. So the client has few bodies in memory, and the server few consumers.
 */
export class RabbitMQQueueSession implements QueueSession {
  #prefetch: number;
  #consumers = 0;
  readonly #arrivals = new Arrivals<HeldMessage>();
  readonly #acknowledger: Acknowledger<Arrived>;
  /** How many messages are to return. */
  #unsettled = 0;
  #consumer: Consumer = { tag: '', unsettled: 0, kept: 0 };
  #renewal: Promise<void> | undefined;
  #given = 0;
  /** How many messages have arrived. */
  #received = 0;
  #isOpen = true;
  /** Why the channel has closed, if the broker has closed it alone. */
  #channelError: unknown;
  #isEnding = false;

  private constructor(
    private readonly channel: RawChannel,
    private readonly connection: RawConnection,
    private readonly queue: string,
    private readonly limits: SessionLimits,
    private readonly clock: Clock,
  ) {
    const ack = ({ message }: Arrived, multiple: boolean): void => channel.ack(message, multiple);
    this.#acknowledger = new Acknowledger(ack, clock);
    this.#prefetch = Math.max(1, Math.min(limits.window, limits.most, MOST_PREFETCH));
  }

  static async open(
    connection: RawConnection,
    queue: string,
    limits: SessionLimits,
    clock: Clock,
  ): Promise<RabbitMQQueueSession> {
    const channel = await connection.createChannel();
    const session = new RabbitMQQueueSession(channel, connection, queue, limits, clock);
    channel.on('error', (error: unknown) => {
      session.#channelError = error;
    });
    channel.on('close', () => session.#closed());
    await session.#consume();
    return session;
  }

  async next(): Promise<HeldMessage | undefined> {
    if (this.#given >= this.limits.most) return undefined;
    let quietSince: number | undefined;
    for (;;) {
      const arrived = this.#arrivals.take() ?? (await this.#arrivals.within(this.clock, QUIET));
      if (arrived !== undefined) {
        this.#given += 1;
        return arrived;
      }
      if (!this.#hasCapacity) continue;
      // The reply comes after whatever the queue had delivered before.
      const messageCount = await this.#countReady();
      if (this.#arrivals.hasAny || this.#renewal !== undefined) continue;
      const now = this.clock.monotonic();
      if (messageCount === 0 && quietSince !== undefined) return undefined;
      quietSince ??= now;
      if (now - quietSince > STALLED) throw new Error(texts.noDeliveries(this.queue, messageCount));
    }
  }

  async end(): Promise<Error | undefined> {
    this.#acknowledger.flush();
    if (!this.#isOpen) return this.#reason;
    this.#isEnding = true;
    const ended = this.#giveBack().then(
      () => undefined,
      () => this.#reason,
    );
    const inTime = await within(this.clock, CLOSING_LIMIT, ended);
    return inTime ? ended : this.#reason;
  }

  /** Why the channel has closed. A connection says why once its channels have closed. */
  get #reason(): Error {
    const reason = this.#channelError ?? connectionErrorOf(this.connection)();
    return reason instanceof Error ? reason : new Error(texts.channelClosed);
  }

  async #countReady(): Promise<number> {
    try {
      return (await this.channel.checkQueue(this.queue)).messageCount;
    } catch (error) {
      throw this.#isOpen ? error : this.#reason;
    }
  }

  // A nack that requeues is uncounted since RabbitMQ 4.3; before, it moves the message to the end of a quorum
  // queue without a delivery limit. A channel that closes returns its messages to the head in any release.
  // One frame for all: a classic queue sorts them in again once, not for each message.
  async #giveBack(): Promise<void> {
    await this.#renewal;
    await this.channel.cancel(this.#consumer.tag);
    const left = this.#unsettled;
    if (left > 0 && isAtLeast(serverVersionOf(this.connection), [4, 3])) this.channel.nackAll(true);
    await this.channel.close();
    // They return, whatever becomes of the connection now.
    await this.#returned(left).catch(() => undefined);
  }

  // The queue may process what the channel has left behind after the channel has closed.
  async #returned(count: number): Promise<void> {
    const until = this.clock.monotonic() + RETURN_LIMIT;
    while (count > 0 && this.clock.monotonic() < until) {
      const { messageCount } = await onScratchChannel(this.connection, (channel) =>
        channel.checkQueue(this.queue),
      );
      if (messageCount >= count) return;
      await sleep(this.clock, RETURN_INTERVAL);
    }
  }

  get #hasCapacity(): boolean {
    return this.#consumer.unsettled < this.#prefetch && this.#renewal === undefined;
  }

  async #consume(): Promise<void> {
    const consumer: Consumer = { tag: '', unsettled: 0, kept: 0 };
    this.#consumer = consumer;
    this.#consumers += 1;
    const received = (message: IncomingMessage | null): void => {
      if (message === null) this.#arrivals.fail(new Error(texts.cancelledByServer(this.queue)));
      else this.#arrived(message, consumer);
    };
    await this.channel.prefetch(this.#prefetch);
    // A quorum queue returns the messages of a closed channel in the order of its consumer tags.
    const consumerTag = `settle-${String(this.#consumers).padStart(4, '0')}`;
    await this.channel.consume(this.queue, received, { consumerTag });
    consumer.tag = consumerTag;
  }

  #arrived(message: IncomingMessage, consumer: Consumer): void {
    const tag = message.fields.deliveryTag;
    const arrived: Arrived = { tag, message, previous: undefined, next: undefined };
    this.#received += 1;
    this.#unsettled += 1;
    consumer.unsettled += 1;
    this.#acknowledger.arrived(arrived);
    this.#arrivals.add({
      message,
      acknowledge: (written) => {
        this.#unsettled -= 1;
        consumer.unsettled -= 1;
        this.#acknowledger.acknowledge(arrived, written);
      },
      keep: () => {
        message.content = NO_BYTES;
        consumer.kept += 1;
        if (consumer === this.#consumer && consumer.kept * 2 > this.#prefetch) this.#renew();
      },
    });
  }

  #renew(): void {
    if (this.#renewal !== undefined || this.#isEnding || this.#left <= 0) return;
    const { tag } = this.#consumer;
    this.#renewal = this.channel
      .cancel(tag)
      .then(() => this.#consumeLeft())
      .catch((error: unknown) => this.#arrivals.fail(error))
      .finally(() => {
        this.#renewal = undefined;
      });
  }

  get #left(): number {
    return this.limits.most - this.#received;
  }

  // No more than will be read: a quorum queue puts what returns behind what had returned before, so that a later
  // session that receives fewer messages would begin with others each time.
  async #consumeLeft(): Promise<void> {
    if (this.#left <= 0) return;
    const larger = Math.max(this.#prefetch, Math.min(this.#prefetch * 2, MOST_RENEWED));
    const { most, held = most, window } = this.limits;
    const room = Math.max(window, held - this.#unsettled);
    this.#prefetch = Math.min(larger, this.#left, room);
    await this.#consume();
  }

  #closed(): void {
    this.#isOpen = false;
    void Promise.resolve().then(() => this.#arrivals.fail(this.#reason));
  }
}
