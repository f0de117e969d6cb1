import { Inject, Injectable } from '@nestjs/common';
import type { Broker, MessageCounts } from '../amqp/port';
import { type Clock, within } from '../clock';
import { CONSOLE_CLOCK } from './tokens';

/** For how long counts are used before they are asked for again, in ms. */
const FRESH = 3_000;
/** How long a queue that does not exist is left alone, in ms: each question costs a channel. */
const MISSING_FRESH = 30_000;
/** How long the page waits for counts, in ms. */
const LIMIT = 3_000;

interface Entry {
  readonly at: number;
  /** `undefined`: the broker does not know the queue, or refuses to count it. */
  readonly counts: MessageCounts | undefined;
}

/** The counts of queues, asked for when a page needs them and shared by all pages. */
@Injectable()
export class QueueCountCache {
  readonly #entries = new Map<Broker, Map<string, Entry>>();
  readonly #refreshing = new Map<Broker, Promise<void>>();

  constructor(@Inject(CONSOLE_CLOCK) private readonly clock: Clock) {}

  /** What was counted last; `undefined` if nothing was, or there is no such queue. */
  get(broker: Broker, queue: string): MessageCounts | undefined {
    return this.#entries.get(broker)?.get(queue)?.counts;
  }

  /**
   * Counts the queues whose counts are old, one request at a time for each broker. Resolves once they are
   * there, or after 3 s without them. Never rejects.
   */
  async refresh(wanted: ReadonlyMap<Broker, ReadonlySet<string>>): Promise<void> {
    const work = [...wanted].map(([broker, queues]) => this.#refresh(broker, queues));
    await within(this.clock, LIMIT, Promise.all(work));
  }

  /** Forgets what is known about a queue: something has changed it. */
  forget(queue: string): void {
    for (const entries of this.#entries.values()) {
      const entry = entries.get(queue);
      if (entry !== undefined) entries.set(queue, { ...entry, at: Number.NEGATIVE_INFINITY });
    }
  }

  async #refresh(broker: Broker, queues: ReadonlySet<string>): Promise<void> {
    const running = this.#refreshing.get(broker);
    if (running !== undefined) return running;
    const stale = [...queues].filter((queue) => this.#isStale(broker, queue));
    if (stale.length === 0) return;
    const work = this.#count(broker, stale).finally(() => this.#refreshing.delete(broker));
    this.#refreshing.set(broker, work);
    await work;
  }

  #isStale(broker: Broker, queue: string): boolean {
    const entry = this.#entries.get(broker)?.get(queue);
    if (entry === undefined) return true;
    const limit = entry.counts === undefined ? MISSING_FRESH : FRESH;
    return this.clock.monotonic() - entry.at >= limit;
  }

  async #count(broker: Broker, queues: readonly string[]): Promise<void> {
    const entries = this.#entries.get(broker) ?? new Map<string, Entry>();
    this.#entries.set(broker, entries);
    try {
      const counts = await broker.queueCounts(queues);
      const at = this.clock.monotonic();
      for (const queue of queues) entries.set(queue, { at, counts: counts.get(queue) });
    } catch {
      // The connection is down, which the state of the subscriptions shows; counts would be of the past.
      for (const queue of queues) entries.delete(queue);
    }
  }
}
