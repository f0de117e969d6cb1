import { isWaitingQueue } from '../delivery/waiting-queue';
import { thrownMessage, thrownName } from '../log/thrown';
import type { Decision } from '../model/decision';
import type { Settlement, SettlementStatus } from '../model/settlement';

const MINUTE = 60_000;
/** How many minutes are kept. */
export const MINUTES = 60;
const MOST_FAILURES = 20;
const MOST_WAITING_QUEUES = 64;
const LONGEST_TEXT = 500;
const LONGEST_ID = 100;

const RESULTS = ['acknowledged', 'retried', 'failed'] as const;

/**
 * What became of an attempt: it was acknowledged, it will be retried, or it has failed for good (rejected,
 * dead-lettered, skipped, left to a restart).
 */
export type AttemptResult = (typeof RESULTS)[number];

/** The attempts of each of the last 60 minutes, the present one last. */
export type Series = Readonly<Record<AttemptResult, readonly number[]>>;

/** One attempt that was not acknowledged as handled. */
export interface AttemptFailure {
  /** ISO 8601. */
  readonly at: string;
  readonly messageId: string | undefined;
  readonly routingKey: string;
  readonly attempt: number;
  readonly durationMs: number;
  readonly errorName: string | undefined;
  readonly errorMessage: string | undefined;
  readonly decision: Decision;
  readonly status: SettlementStatus;
}

/** The last hour of one subscription, in memory and bounded. */
export class SettlementHistory {
  readonly #counts: Readonly<Record<AttemptResult, Uint32Array>> = {
    acknowledged: new Uint32Array(MINUTES),
    retried: new Uint32Array(MINUTES),
    failed: new Uint32Array(MINUTES),
  };
  readonly #failures: AttemptFailure[] = [];
  readonly #waitingQueues = new Set<string>();
  /** The last minute that has a place in the counts. */
  #minute = 0;

  /** The last failures, the newest first. */
  get failures(): readonly AttemptFailure[] {
    return this.#failures;
  }

  /** The waiting queues to which messages were published. */
  get waitingQueues(): ReadonlySet<string> {
    return this.#waitingQueues;
  }

  record(settlement: Settlement, now: number): void {
    const { status, republished, delivery } = settlement;
    // Requeued without an attempt.
    if (status === 'released') return;
    this.#moveTo(now);
    const result = resultOf(settlement);
    const counts = this.#counts[result];
    const place = this.#minute % MINUTES;
    counts[place] = (counts[place] ?? 0) + 1;
    if (result !== 'acknowledged') this.#addFailure(settlement, now);
    const isNew = republished !== undefined && !this.#waitingQueues.has(republished.queue);
    if (isNew && this.#waitingQueues.size < MOST_WAITING_QUEUES) {
      if (isWaitingQueue(republished.queue, delivery.queue)) {
        this.#waitingQueues.add(republished.queue);
      }
    }
  }

  series(now: number): Series {
    this.#moveTo(now);
    const listOf = (result: AttemptResult): readonly number[] => {
      const counts = this.#counts[result];
      const first = this.#minute + 1;
      return Array.from(counts, (_, index) => counts[(first + index) % MINUTES] ?? 0);
    };
    return {
      acknowledged: listOf('acknowledged'),
      retried: listOf('retried'),
      failed: listOf('failed'),
    };
  }

  #moveTo(now: number): void {
    const minute = Math.floor(now / MINUTE);
    // A clock that was set back counts in the last minute.
    for (let left = Math.min(minute - this.#minute, MINUTES); left > 0; left -= 1) {
      const place = (minute - left + 1) % MINUTES;
      for (const result of RESULTS) this.#counts[result][place] = 0;
    }
    this.#minute = Math.max(minute, this.#minute);
  }

  #addFailure(settlement: Settlement, now: number): void {
    const { delivery, attempt, durationMs, error, decision, status } = settlement;
    const { outcome } = settlement;
    const reason = 'reason' in outcome ? outcome.reason : undefined;
    const text = error === undefined ? reason : thrownMessage(error);
    this.#failures.unshift({
      at: new Date(now).toISOString(),
      messageId: shortened(delivery.messageId, LONGEST_ID),
      routingKey: delivery.routingKey,
      attempt,
      durationMs,
      errorName: error === undefined ? undefined : shortened(thrownName(error), LONGEST_ID),
      errorMessage: shortened(text, LONGEST_TEXT),
      decision,
      status,
    });
    this.#failures.length = Math.min(this.#failures.length, MOST_FAILURES);
  }
}

function resultOf({ decision, error }: Settlement): AttemptResult {
  switch (decision.kind) {
    case 'requeue':
    case 'republish':
      return 'retried';
    case 'ack':
    case 'none':
      // A policy such as 'skip' acknowledges what has failed.
      return error === undefined ? 'acknowledged' : 'failed';
    default:
      return 'failed';
  }
}

function shortened(text: unknown, length: number): string | undefined {
  if (typeof text !== 'string') return undefined;
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
