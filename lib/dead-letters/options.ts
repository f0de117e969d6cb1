import type { Size } from '../model/size';
import type { DeadLetterFilter } from './filter';
import type { ReplayProgress } from './results';

/**
 * How far a queue is read.
 * @publicApi
 */
export interface ScanOptions {
  /**
   * How many messages are held at most. While it is read, a message that stays in its queue is held: no
   * other consumer gets it. At most 50 000.
   * @default 10_000
   */
  readonly scan?: number | undefined;
}

/**
 * Options of `DeadLetters.list`.
 * @example
 * await deadLetters.list('billing.dead', { where: { reason: 'timeout' }, limit: 20 });
 * @publicApi
 */
export interface ListOptions extends ScanOptions {
  /**
   * Which dead letters are listed and grouped.
   * @default all
   */
  readonly where?: DeadLetterFilter | undefined;
  /**
   * How many are listed at most; the groups count all that match.
   * @default 100
   */
  readonly limit?: number | undefined;
}

/**
 * Options of `DeadLetters.get`.
 * @publicApi
 */
export interface GetOptions extends ScanOptions {
  /**
   * How much of the body is returned.
   * @default '16KiB'
   */
  readonly maxBody?: Size | undefined;
}

/**
 * Which dead letters are replayed or discarded, from the head of the queue on.
 * @publicApi
 */
export interface SelectOptions extends ScanOptions {
  /**
   * What they have to match.
   * @default all
   */
  readonly where?: DeadLetterFilter | undefined;
  /** The ids of the messages, as `list` returns them; they have to match `where` as well. */
  readonly ids?: readonly string[] | undefined;
  /**
   * How many at most.
   * @default all that were in the queue at the start
   */
  readonly limit?: number | undefined;
}

/**
 * Options of `DeadLetters.replay`.
 * @example
 * await deadLetters.replay('billing.dead', { where: { errorName: 'BankTimeout' }, rate: 100 });
 * @publicApi
 */
export interface ReplayOptions extends SelectOptions {
  /**
   * The queue to which they are published.
   * @default the queue in which each of them failed
   */
  readonly to?: string | undefined;
  /**
   * Messages per second at most.
   * @default no limit
   */
  readonly rate?: number | undefined;
  /**
   * Counts what would be replayed, and where to; changes nothing.
   * @default false
   */
  readonly dryRun?: boolean | undefined;
  /** Called at most ten times a second, and at the end. Must not throw. */
  readonly onProgress?: ((progress: ReplayProgress) => void) | undefined;
  /** Ends the replay after what has been published by then; the rest stays in the queue. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Options of `DeadLetters.discard`: either `dryRun` or `confirm` is required.
 * @example
 * const { matched, token } = await deadLetters.discard('billing.dead', { where, dryRun: true });
 * await deadLetters.discard('billing.dead', { where, confirm: token });
 * @publicApi
 */
export interface DiscardOptions extends SelectOptions {
  /** Counts what would be deleted; returns the token that `confirm` needs. */
  readonly dryRun?: boolean | undefined;
  /**
   * The `token` of a dry run with the same queue, `where`, `ids` and `limit`. At most as many messages as the
   * dry run has counted are deleted, and none that was dead-lettered after it.
   */
  readonly confirm?: string | undefined;
  /** Ends after what has been deleted by then. */
  readonly signal?: AbortSignal | undefined;
}
