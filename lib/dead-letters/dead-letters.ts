import type { QueueClient } from '../amqp/queue-client';
import { type Clock, systemClock } from '../clock';
import { texts } from '../log/texts';
import { UrlConnection } from '../rabbitmq/url-connection';
import type { DeadLetterDetails } from './dead-letter';
import { discardLetters, permissionOf } from './discard';
import type { DiscardOptions, GetOptions, ListOptions, ReplayOptions } from './options';
import { checkReplayOptions, replayLetters } from './replay';
import type { DeadLetterList, DiscardResult, ReplayResult } from './results';
import { findLetter, listLetters } from './scan';
import { Turns } from './turns';

const CLOSING_LIMIT = 5_000;

/** What the service stands on. */
export interface DeadLettersDependencies {
  readonly clock: Clock;
  /** Opens a client for one call. */
  open(): Promise<QueueClient>;
  /** Closes what `open` uses. */
  close?(): Promise<void>;
}

/**
 * Reads, replays and discards the messages of dead-letter queues: those of this library, and by `x-death` those
 * of RabbitMQ and of other libraries. Each call opens connections of its own and closes them again.
 *
 * While a queue is read, its messages are held, and other consumers do not get them. They return to the
 * queue in their order; RabbitMQ then flags them as redelivered. Every method rejects if the broker cannot be
 * reached or the queue does not exist, and with a `TypeError` if the options are not valid.
 * @publicApi
 */
export class DeadLetters {
  readonly #turns = new Turns();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  private constructor(private readonly dependencies: DeadLettersDependencies) {}

  /** @internal */
  static over(dependencies: DeadLettersDependencies): DeadLetters {
    return new DeadLetters(dependencies);
  }

  /**
   * For use without Nest. Rejects if the broker cannot be reached; call `close` at the end.
   * @example
   * const deadLetters = await DeadLetters.connect('amqp://localhost');
   */
  static async connect(url: string): Promise<DeadLetters> {
    const connection = await UrlConnection.open(url, systemClock);
    return new DeadLetters({
      clock: systemClock,
      open: () => connection.openQueueClient(),
      close: () => connection.close(),
    });
  }

  /**
   * The first messages of a queue: grouped by what they failed with, and the first ones one by one, without
   * their bodies.
   * @example
   * const { groups, scanned, total } = await deadLetters.list('billing.dead');
   */
  list(queue: string, options: ListOptions = {}): Promise<DeadLetterList> {
    return this.#reading(queue, (client) => listLetters(client, queue, options));
  }

  /**
   * One message with its body, headers and history; `undefined` if it is not among those that were read.
   * @param id as `list` returns it.
   */
  get(queue: string, id: string, options: GetOptions = {}): Promise<DeadLetterDetails | undefined> {
    return this.#reading(queue, (client) => findLetter(client, queue, id, options));
  }

  /**
   * Publishes messages to the queues in which they failed, and removes them from this one. Each is published
   * to the default exchange as mandatory and acknowledged once RabbitMQ has confirmed it, so none is lost;
   * if the connection or the process ends in between, it is in both queues, with the same `messageId`. The
   * oldest comes first. They start at attempt 1. Ends at what was in the queue at the start.
   *
   * What happens after the start is in the result, not a rejection.
   */
  async replay(queue: string, options: ReplayOptions = {}): Promise<ReplayResult> {
    checkReplayOptions(queue, options);
    const { clock } = this.dependencies;
    return this.#changing(options.signal, (client, signal) =>
      replayLetters(client, queue, options, { clock, signal }),
    );
  }

  /**
   * Deletes messages. A dry run comes first: it counts them, and returns the token that permits the deletion.
   *
   * What happens after the start is in the result, not a rejection.
   */
  async discard(queue: string, options: DiscardOptions): Promise<DiscardResult> {
    const permission = options.dryRun ? undefined : permissionOf(queue, options);
    const { clock } = this.dependencies;
    return this.#changing(options.signal, (client, signal) =>
      discardLetters(client, queue, options, { permission, clock, signal }),
    );
  }

  /** Ends what is running, waits for it, and closes the connections. Never rejects. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
    await this.dependencies.close?.().catch(() => undefined);
  }

  // Aborts with the signal of the caller, and when this object is closed.
  async #changing<T>(
    given: AbortSignal | undefined,
    work: (client: QueueClient, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const own = new AbortController();
    const sources = [this.#closing.signal, ...(given === undefined ? [] : [given])];
    const abort = (): void => own.abort();
    for (const source of sources) {
      source.addEventListener('abort', abort);
      if (source.aborted) abort();
    }
    try {
      return await this.#using((client) => work(client, own.signal));
    } finally {
      for (const source of sources) source.removeEventListener('abort', abort);
    }
  }

  // One after the other: each would see only what the others do not hold.
  #reading<T>(queue: string, work: (client: QueueClient) => Promise<T>): Promise<T> {
    return this.#turns.take(queue, () => this.#using(work));
  }

  async #using<T>(work: (client: QueueClient) => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) throw new Error(texts.deadLettersClosed);
    const running = this.#withClient(work);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async #withClient<T>(work: (client: QueueClient) => Promise<T>): Promise<T> {
    const client = await this.dependencies.open();
    try {
      return await work(client);
    } finally {
      await client.close(CLOSING_LIMIT);
    }
  }
}
