import { AsyncResource } from 'node:async_hooks';
import type { Duration } from './duration';
import type { FailureMark } from './failure-mark';
import type { Settlement } from './settlement';

// Registered, so that outcomes of another copy of this package are recognised.
const OUTCOME = Symbol.for('nestjs-settle.outcome');
const WORK = Symbol.for('nestjs-settle.outcome.work');
const FAILURE = Symbol.for('nestjs-settle.outcome.failure');

/** What a handler may ask for. */
export type OutcomeKind = 'ack' | 'drop' | 'retry' | 'retryAfter';

/** Work for after the settlement; what it returns is awaited, its errors are logged. */
export type AfterWork = (settlement: Settlement) => unknown;

/**
 * What is to become of a delivery, as a value. A handler returns or throws one; a frozen plain
 * object, a new one from each call.
 * @publicApi
 */
export interface Outcome {
  readonly kind: OutcomeKind;
  /** The text given to `drop`. */
  readonly reason?: string;
  /** The delay given to `retryAfter`; without it the subscription's backoff decides. */
  readonly delay?: Duration;
  /**
   * The same outcome with one more piece of work for after the settlement. The work runs once, in
   * the order given, after the frames of the decision have been written, whatever the decision was.
   * It does not run when the settlement could not be sent, the copy failed, the delivery was
   * released, or after failFast. The drain waits for it; an error in it is logged and harms nothing.
   */
  andAfter(work: AfterWork): Outcome;
}

interface Inside extends Outcome {
  readonly [OUTCOME]: true;
  readonly [WORK]?: readonly AfterWork[];
  readonly [FAILURE]?: FailureMark;
}

function andAfter(this: Outcome, work: AfterWork): Outcome {
  const before = this as Inside;
  // The work sees the asynchronous context of whoever gave it, not that of the settlement.
  const context = new AsyncResource('SettleAfterWork');
  const inContext: AfterWork = (settlement) => context.runInAsyncScope(work, undefined, settlement);
  return Object.freeze({ ...before, [WORK]: [...(before[WORK] ?? []), inContext] });
}

function create(
  kind: OutcomeKind,
  rest?: Pick<Outcome, 'reason'> | Pick<Outcome, 'delay'>,
): Outcome {
  return Object.freeze({ kind, ...rest, andAfter, [OUTCOME]: true } as Inside);
}

/**
 * The message is done: it is acknowledged and leaves the queue.
 * @publicApi
 */
export function ack(): Outcome {
  return create('ack');
}

/**
 * The message is refused for good: it goes to the dead-letter queue where one is declared, else it
 * is rejected, and the queue's own dead-letter route takes it or nothing does.
 * @param reason stands in the dead letter as `x-settle-error-message`.
 * @publicApi
 */
export function drop(reason?: string): Outcome {
  return create('drop', reason === undefined ? undefined : { reason });
}

/**
 * The message comes again at once, as long as `retry.attempts` allows it; at the cap it goes to the
 * dead letter.
 * @publicApi
 */
export function retry(): Outcome {
  return create('retry');
}

/**
 * The message comes again no sooner than after `delay`, or after the subscription's backoff where
 * none is given. It waits on the broker, as a copy; the original is acknowledged once the broker has
 * confirmed the copy, so a crash in between makes a duplicate and loses nothing.
 * @param delay 0 is `retry()`, a fraction of a millisecond is rounded up. A negative or unreadable
 * delay, or one of more than 49 days, is logged as an error and the backoff takes its place.
 * @publicApi
 */
export function retryAfter(delay?: Duration): Outcome {
  return create('retryAfter', delay === undefined ? undefined : { delay });
}

const KINDS: ReadonlySet<unknown> = new Set<OutcomeKind>(['ack', 'drop', 'retry', 'retryAfter']);

/**
 * Whether a value is an outcome, also one of another copy of this package. Never throws.
 * @publicApi
 */
export function isOutcome(value: unknown): value is Outcome {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return (value as Inside)[OUTCOME] === true && KINDS.has((value as Inside).kind);
  } catch {
    return false; // A proxy or a getter of the user's that throws: no outcome of ours does.
  }
}

/** The work that `andAfter` has added, in order. */
export function workOf(outcome: Outcome): readonly AfterWork[] {
  return (outcome as Inside)[WORK] ?? [];
}

/** The outcome, marked as spoken by a failure policy in the handler's place. */
export function markFailure(outcome: Outcome, failure: FailureMark): Outcome {
  return Object.freeze({ ...outcome, [FAILURE]: failure } as Inside);
}

/** What made a policy speak in the handler's place; `undefined` where the handler itself did. */
export function failureMarkOf(outcome: Outcome): FailureMark | undefined {
  return (outcome as Inside)[FAILURE];
}

/** What a handler that returned nothing has said. */
export const DONE = ack();
