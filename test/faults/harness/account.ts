import type { Ledger } from './ledger';

/** Where messages lie when everything has come to rest, each by its number, as often as it lies there. */
export interface Remaining {
  /** In the consumed queue and its waiting queues. */
  readonly queued: readonly number[];
  readonly deadLettered: readonly number[];
}

/** What an account is drawn up from. */
export interface Entries extends Remaining {
  /** The numbers whose publish the broker has confirmed. */
  readonly confirmed: Iterable<number>;
  readonly ledger: Ledger;
  /** How many deliveries were in flight at each fault, at most. */
  readonly inFlightAtFaults: number;
}

/** What became of the messages of a run. */
export interface Account {
  readonly confirmed: number;
  readonly runs: number;
  readonly succeeded: number;
  readonly deadLettered: number;
  /** Confirmed, never run to success, and in no queue. */
  readonly lost: readonly number[];
  /** Still in the queue or a waiting queue, with nothing to stop them. */
  readonly stuck: readonly number[];
  /** How many results there are beyond one for each message. */
  readonly duplicates: number;
  /** How many of these no fault explains. */
  readonly unexplained: number;
}

/**
 * Draws up the account. A result of a message is a run that succeeded, or a place in a queue; each message
 * has one. A delivery in flight at a fault can add one: it was finished or republished, and is redelivered.
 */
export function accountOf({
  confirmed,
  ledger,
  queued,
  deadLettered,
  inFlightAtFaults,
}: Entries): Account {
  const places = new Map<number, number>();
  for (const n of [...queued, ...deadLettered]) places.set(n, (places.get(n) ?? 0) + 1);
  const lost: number[] = [];
  let count = 0;
  let duplicates = 0;
  for (const n of confirmed) {
    count += 1;
    const succeeded = ledger.of(n).filter((run) => run.succeeded).length;
    const results = succeeded + (places.get(n) ?? 0);
    if (results === 0) lost.push(n);
    else duplicates += results - 1;
  }
  return {
    confirmed: count,
    runs: ledger.runs,
    succeeded: ledger.successes,
    deadLettered: deadLettered.length,
    lost,
    stuck: [...new Set(queued)],
    duplicates,
    unexplained: Math.max(0, duplicates - inFlightAtFaults),
  };
}
