import type { Attributes } from '@opentelemetry/api';
import { failureMarkOf, type Outcome } from '../model/outcome';
import type { Settlement } from '../model/settlement';
import { reasonOf, subscriptionAttributes } from './attributes';

interface Count {
  readonly attributes: Attributes;
  count: number;
}

/** What a settlement adds to. */
interface Entry {
  readonly outcome: Outcome['kind'];
  readonly decision: Settlement['decision']['kind'];
  readonly status: Settlement['status'];
  readonly reason: string | undefined;
  readonly cause: string | undefined;
  readonly attempt: number;
  readonly settled: Count;
  /** `undefined` if the message has not ended. */
  readonly ended: Count | undefined;
  /** `undefined` if the message was not handled. */
  readonly consumed: Count | undefined;
  /** The attributes of the duration. */
  readonly duration: Attributes | undefined;
}

const ENDS: ReadonlySet<Entry['decision']> = new Set(['ack', 'reject', 'deadLetter']);

/** Counts with the attributes that tell them apart, made once for each combination. */
export class Counts {
  readonly #counts = new Map<string, Count>();

  add(key: string, attributes: () => Attributes): void {
    this.of(key, attributes).count += 1;
  }

  of(key: string, attributes: () => Attributes): Count {
    let found = this.#counts.get(key);
    if (found === undefined) {
      found = { attributes: attributes(), count: 0 };
      this.#counts.set(key, found);
    }
    return found;
  }

  observe(result: { observe(value: number, attributes: Attributes): void }): void {
    for (const { count, attributes } of this.#counts.values()) result.observe(count, attributes);
  }
}

/**
 * The counts of one subscription. They are read when metrics are collected: an instrument that is called for
 * each message costs more than all the rest of a message.
 */
export class SettlementCounts {
  readonly settlements = new Counts();
  readonly consumed = new Counts();
  readonly attempts = new Counts();
  /** The attributes of every metric of the subscription. */
  readonly common: Attributes;
  readonly #durations = new Map<string | undefined, Attributes>();
  #last: Entry | undefined;

  constructor(settlement: Settlement) {
    this.common = subscriptionAttributes(settlement.subscription);
  }

  /** Returns the attributes of the duration; `undefined` if the message was not handled. */
  add(settlement: Settlement): Attributes | undefined {
    let entry = this.#last;
    // Mostly it is as the one before, which needs no look-up.
    if (entry === undefined || !isOf(entry, settlement)) {
      entry = this.#entryOf(settlement);
      this.#last = entry;
    }
    entry.settled.count += 1;
    if (entry.consumed !== undefined) entry.consumed.count += 1;
    if (entry.ended !== undefined) entry.ended.count += 1;
    return entry.duration;
  }

  #entryOf(settlement: Settlement): Entry {
    const { outcome, decision, status, attempt } = settlement;
    const reason = reasonOf(settlement);
    const cause = failureMarkOf(outcome)?.cause;
    const key = `${outcome.kind} ${decision.kind} ${status} ${reason}`;
    const settled = this.settlements.of(key, () => ({
      ...this.common,
      'settle.outcome': outcome.kind,
      'settle.decision': decision.kind,
      'settle.status': status,
      ...(reason !== undefined && { 'settle.reason': reason }),
    }));
    const isHandled = status !== 'released';
    const duration = isHandled ? this.#processedBy(cause) : undefined;
    const consumed = duration && this.consumed.of(`${cause}`, () => duration);
    const { kind } = decision;
    return {
      outcome: outcome.kind,
      decision: kind,
      status,
      reason,
      cause,
      attempt,
      ended: isOver(settlement) ? this.#endedAfter(attempt, kind) : undefined,
      settled,
      consumed,
      duration,
    };
  }

  #endedAfter(attempt: number, decision: Entry['decision']): Count {
    const made = attemptsText(attempt);
    return this.attempts.of(`${decision} ${made}`, () => ({
      ...this.common,
      'settle.decision': decision,
      'settle.attempts_made': made,
    }));
  }

  #processedBy(cause: string | undefined): Attributes {
    const known = this.#durations.get(cause);
    if (known !== undefined) return known;
    const attributes = {
      ...this.common,
      'messaging.operation.name': 'process',
      ...(cause !== undefined && { 'error.type': cause }),
    };
    this.#durations.set(cause, attributes);
    return attributes;
  }
}

// Whether the message has left its queue for good.
function isOver({ decision, status }: Settlement): boolean {
  return decision.kind === 'none' || (status === 'sent' && ENDS.has(decision.kind));
}

// A closed set: each value is a time series.
function attemptsText(attempt: number): string {
  if (attempt <= 5) return `${attempt}`;
  if (attempt <= 10) return '6 to 10';
  return attempt <= 100 ? '11 to 100' : 'above 100';
}

function isOf(entry: Entry, settlement: Settlement): boolean {
  const { outcome, decision, status } = settlement;
  return (
    entry.outcome === outcome.kind &&
    entry.decision === decision.kind &&
    entry.status === status &&
    entry.attempt === settlement.attempt &&
    entry.reason === reasonOf(settlement) &&
    entry.cause === failureMarkOf(outcome)?.cause
  );
}
