import type { IncomingMessage } from '../model/delivery';
import type { Written } from './port';
import type { ServerVersion } from './queue-declarations';
import type { RepublishTransport } from './republish-transport';

/** What a broker reports about a queue. */
export interface QueueCounts {
  /** Messages that wait for a consumer; not those that a consumer has and has not acknowledged. */
  readonly ready: number;
  readonly consumers: number;
}

/** A message of a session. It returns to its queue when the session ends, unless it is acknowledged. */
export interface HeldMessage {
  readonly message: IncomingMessage;
  /**
   * Acknowledges it. Calls `written` once, at the latest when the session ends: with false if the channel has
   * closed, and the message returns to its queue.
   */
  acknowledge(written: Written): void;
  /** Holds it until the session ends. Called before the next message is needed. */
  keep(): void;
}

/** How many messages a session holds. */
export interface SessionLimits {
  /** How many it receives at most. */
  readonly most: number;
  /** How many can be neither acknowledged nor kept at once. */
  readonly window: number;
  /** About how many can be unacknowledged at once, kept ones included; `most` by default. */
  readonly held?: number;
}

/** Receives the messages of one queue from its head on, in order. */
export interface QueueSession {
  /**
   * The next message; `undefined` once nothing is ready any more or `most` were received. Rejects if the
   * queue was deleted, the connection was lost, or the broker delivers nothing although messages are ready.
   */
  next(): Promise<HeldMessage | undefined>;
  /**
   * Returns to the queue, in order and uncounted if the broker can do so, whatever was not acknowledged.
   * Resolves once the broker has processed it, and the acknowledgements: with the reason if the channel had
   * closed before, else with `undefined`. Never rejects.
   */
  end(): Promise<Error | undefined>;
}

/** A client of one broker on connections of its own, for one task. */
export interface QueueClient {
  readonly version: ServerVersion;
  /**
   * Publishes with confirms, on another connection than the one that sessions use.
   * @throws Error if that would lead to another broker.
   */
  readonly transport: RepublishTransport;
  /**
   * Rejects with the broker's error if the queue does not exist.
   * @param isCertain whether a queue that is counted as empty is tried for a message first: RabbitMQ 3.10
   *   counts quorum queues every 5 s only.
   */
  counts(queue: string, isCertain?: boolean): Promise<QueueCounts>;
  /** Rejects with the broker's error if it does not permit to consume. */
  hold(queue: string, limits: SessionLimits): Promise<QueueSession>;
  /** Closes the connections within `limitMs`. Never rejects. */
  close(limitMs: number): Promise<void>;
}
