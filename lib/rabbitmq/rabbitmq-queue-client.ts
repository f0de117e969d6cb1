import type { QueueClient, QueueCounts, QueueSession, SessionLimits } from '../amqp/queue-client';
import type { ServerVersion } from '../amqp/queue-declarations';
import type { RepublishTransport } from '../amqp/republish-transport';
import { type Clock, sleep } from '../clock';
import { texts } from '../log/texts';
import { connectionErrorOf, onConnection } from './connection-error';
import { type ManagedConnection, serverVersionOf } from './managed-connection';
import type { Peer } from './peer';
import { RabbitMQQueueSession } from './queue-session';
import { RepublishConnection } from './republish-connection';
import { onScratchChannel } from './scratch-channel';
import { SecondConnection } from './second-connection';
import type { RawChannel, RawConnection } from './types';

const OPENING_LIMIT = 10_000;
/** How long a queue that delivers may be counted as empty, in ms: RabbitMQ 3.10 counts quorum queues every 5 s. */
const COUNTED_WITHIN = 10_000;
/** How often its count is asked for meanwhile, in ms. */
const ASKED_EVERY = 100;

/** A client of RabbitMQ beside one of the application's connections, with its credentials and options. */
export class RabbitMQQueueClient implements QueueClient {
  readonly #publishing: RepublishConnection;
  readonly #peer: Peer | undefined;

  private constructor(
    private readonly application: ManagedConnection,
    private readonly reading: SecondConnection,
    private readonly raw: RawConnection,
    open: () => SecondConnection,
    private readonly clock: Clock,
  ) {
    this.#peer = application.peer;
    connectionErrorOf(raw); // It listens from now on.
    this.#publishing = new RepublishConnection(open(), open, clock);
  }

  /** Rejects if the broker cannot be reached within 10 s. */
  static async open(application: ManagedConnection, clock: Clock): Promise<RabbitMQQueueClient> {
    const open = (): SecondConnection => new SecondConnection(application, clock);
    const reading = open();
    try {
      const raw = await reading.raw(OPENING_LIMIT);
      return new RabbitMQQueueClient(application, reading, raw, open, clock);
    } catch (error) {
      await reading.close(0);
      throw error;
    }
  }

  get version(): ServerVersion {
    return serverVersionOf(this.raw);
  }

  // If the application's connection moves to another server, the publishing connection follows it.
  get transport(): RepublishTransport {
    if (this.application.peer !== this.#peer) throw new Error(texts.noConnection);
    return this.#publishing;
  }

  async counts(queue: string, isCertain = false): Promise<QueueCounts> {
    const counts = await this.#countsNow(queue);
    if (!isCertain || counts.ready > 0 || !(await this.#delivers(queue))) return counts;
    const until = this.clock.monotonic() + COUNTED_WITHIN;
    while (this.clock.monotonic() < until) {
      await sleep(this.clock, ASKED_EVERY);
      const later = await this.#countsNow(queue);
      if (later.ready > 0) return later;
    }
    return counts;
  }

  #countsNow(queue: string): Promise<QueueCounts> {
    const work = async (channel: RawChannel): Promise<QueueCounts> => {
      const { messageCount, consumerCount } = await channel.checkQueue(queue);
      return { ready: messageCount, consumers: consumerCount };
    };
    return onConnection(this.raw, () => onScratchChannel(this.raw, work));
  }

  async #delivers(queue: string): Promise<boolean> {
    const session = await this.hold(queue, { most: 1, window: 1 });
    try {
      return (await session.next()) !== undefined;
    } finally {
      await session.end();
    }
  }

  hold(queue: string, limits: SessionLimits): Promise<QueueSession> {
    const open = (): Promise<QueueSession> =>
      RabbitMQQueueSession.open(this.raw, queue, limits, this.clock);
    return onConnection(this.raw, open);
  }

  async close(limitMs: number): Promise<void> {
    await Promise.all([this.reading.close(limitMs), this.#publishing.close(limitMs)]);
  }
}
