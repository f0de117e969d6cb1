import type { OutgoingMessage } from '../delivery/republish';
import type { TopologyClient } from './topology-client';
import type { WriteLimits } from './writable-message';

/**
 * How a publish ended:
 * - `confirmed`: the broker has the message in a queue;
 * - `returned`: the broker has it in no queue, since the queue does not exist;
 * - `refused`: `basic.nack`: the queue is full or unavailable;
 * - `closed`: the channel or the connection closed before the broker replied; `isAlone` if nothing else
 *   was being published on it, so that it closed because of this message or not at all;
 * - `unencodable`: the client could not encode it, and nothing was written;
 * - `unconfirmed`: the broker has not replied in time, or the delivery's channel has closed meanwhile.
 */
export type PublishResult =
  | { readonly status: 'confirmed' }
  | { readonly status: 'returned'; readonly replyCode: number; readonly replyText: string }
  | { readonly status: 'refused' }
  | { readonly status: 'closed'; readonly error: unknown; readonly isAlone: boolean }
  | { readonly status: 'unencodable'; readonly error: unknown }
  | { readonly status: 'unconfirmed' };

/** A publish that has been written. */
export interface WrittenPublish {
  /** Never rejects; pending until the broker replies, the channel closes or a limit is reached. */
  readonly result: Promise<PublishResult>;
  /** Called once when nobody waits for the result any longer. */
  end(): void;
}

/** How a message is written. */
export interface WriteOptions {
  /** How long it may take until the broker has replied, in ms. */
  readonly limitMs: number;
  /** Whether it is written on a connection of its own: it may be a message over which the broker closes one. */
  readonly isAlone: boolean;
  /**
   * Once it has aborted nothing is written, since the connection can lead to another broker by then, and no
   * reply is waited for.
   */
  readonly lost: AbortSignal;
}

/** A connection that messages are published on. */
export interface RepublishTransport {
  /** Whether the broker has blocked the connection (memory or disk alarm). */
  readonly isBlocked: boolean;
  /** Rejects if there is no connection within `limitMs`. */
  topology(limitMs: number): Promise<TopologyClient>;
  /**
   * Publishes a mandatory message to a queue through the default exchange. Resolves once it has been
   * written; rejects if nothing was written, since there was no connection or channel within the limit.
   * @param message makes the message that fits.
   */
  write(
    queue: string,
    message: (limits: WriteLimits) => OutgoingMessage,
    options: WriteOptions,
  ): Promise<WrittenPublish>;
  /**
   * Like `write`, if nothing has to be connected, opened or waited for; else `undefined`, and nothing is
   * written. Throws as `write` rejects.
   */
  writeAtOnce(
    queue: string,
    message: (limits: WriteLimits) => OutgoingMessage,
    limits: Pick<WriteOptions, 'limitMs' | 'lost'>,
  ): Promise<PublishResult> | undefined;
}
