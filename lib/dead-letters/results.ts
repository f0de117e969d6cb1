import type { DeadLetter } from './dead-letter';
import type { DeadLetterGroup } from './groups';

/**
 * How far a queue was read.
 * @publicApi
 */
export interface ScanResult {
  /** The queue that was read. */
  readonly queue: string;
  /** How many messages were ready when it began. Messages that a consumer holds are not among them. */
  readonly total: number;
  /** How many were examined, from the head of the queue on. */
  readonly scanned: number;
  /** How many of these matched. */
  readonly matched: number;
}

/**
 * The result of `DeadLetters.list`.
 * @publicApi
 */
export interface DeadLetterList extends ScanResult {
  /** The first `limit` that matched, in the order of the queue. */
  readonly letters: readonly DeadLetter[];
  /** All that matched by reason, error and handler, the largest group first. */
  readonly groups: readonly DeadLetterGroup[];
  /** How many consumers the queue has; each of them takes dead letters away. */
  readonly consumers: number;
  /**
   * The highest `deliveryCount`. Before 4.3, RabbitMQ counts each scan of a quorum queue as a return, and
   * deletes a message above the delivery limit of its queue (20 by default since 4.0).
   */
  readonly highestDeliveryCount: number;
}

/**
 * Why a run ended:
 * - `complete`: everything that was in the queue at the start has been examined, or every id was found;
 * - `limit`: `limit` was reached;
 * - `scan`: as many messages as `scan` permits were held; further ones may match;
 * - `target`: the target queue `to` does not exist or refuses messages;
 * - `aborted`: by its `signal`, or because the application shuts down;
 * - `failed`: the connection was lost or could not be opened, or the queue was deleted; see `error`.
 * @publicApi
 */
export type RunEnd = 'complete' | 'limit' | 'scan' | 'target' | 'aborted' | 'failed';

/**
 * Dead letters that were not replayed and stay in their queue, by cause:
 * - `no-origin`: no header tells where they failed, and `to` is not set;
 * - `target-missing`: the target queue does not exist;
 * - `target-refused`: it refused them, since it is full or not available, or nothing may be published to it;
 * - `message-refused`: RabbitMQ does not accept the message, for example since it is larger than the server's
 *   `max_message_size`;
 * - `unconfirmed`: RabbitMQ did not confirm; they can be in both queues;
 * - `unencodable`: they could not be encoded.
 * @publicApi
 */
export interface ReplayFailure {
  /** See above. */
  readonly cause:
    | 'no-origin'
    | 'target-missing'
    | 'target-refused'
    | 'message-refused'
    | 'unconfirmed'
    | 'unencodable';
  /** The queue to which they could not be published. */
  readonly target?: string | undefined;
  /** How many messages. */
  readonly count: number;
  /** The first 20 of them. */
  readonly letters: readonly Pick<DeadLetter, 'id' | 'messageId'>[];
  /** What happened, in words: with what RabbitMQ has replied, if it has. */
  readonly text: string;
}

/**
 * How far a replay is.
 * @publicApi
 */
export interface ReplayProgress extends ScanResult {
  /** How many were published, confirmed, and removed from the dead-letter queue. */
  readonly replayed: number;
  /** How many stay in the dead-letter queue because of a failure. */
  readonly failed: number;
}

/**
 * The result of `DeadLetters.replay`.
 * @publicApi
 */
export interface ReplayResult extends ReplayProgress {
  /** Whether nothing was changed. */
  readonly dryRun: boolean;
  /** Why it ended. */
  readonly ended: RunEnd;
  /** Why it failed. */
  readonly error?: unknown;
  /** Where they were published, or in a dry run would be; the largest number first. */
  readonly targets: readonly { readonly queue: string; readonly count: number }[];
  /** What stays in the dead-letter queue, by cause and target. */
  readonly failures: readonly ReplayFailure[];
  /**
   * How many were published and confirmed, but are in the dead-letter queue as well, since the connection
   * was lost before they could be acknowledged.
   */
  readonly duplicated: number;
}

/**
 * The result of `DeadLetters.discard`.
 * @publicApi
 */
export interface DiscardResult extends ScanResult {
  /** Whether nothing was changed. */
  readonly dryRun: boolean;
  /** How many were deleted; 0 in a dry run. */
  readonly discarded: number;
  /** Why it ended. */
  readonly ended: RunEnd;
  /** Why it failed. */
  readonly error?: unknown;
  /** Of a dry run: permits `discard` to delete what it has counted. */
  readonly token?: string | undefined;
}
