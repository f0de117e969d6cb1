import { AsyncResource } from 'node:async_hooks';
import type { Duration } from './duration';
import type { FailureMark } from './failure-mark';
import type { Settlement } from './settlement';

// Registered, so that outcomes of another copy of this package are recognised.
const OUTCOME = Symbol.for('nestjs-settle.outcome');
const WORK = Symbol.for('nestjs-settle.outcome.work');
const FAILURE = Symbol.for('nestjs-settle.outcome.failure');

/** What a handler can ask for. */
export type OutcomeKind = 'ack' | 'drop' | 'retry' | 'retryAfter' | 'pauseFor';

/** A callback that runs after the settlement; a promise that it returns is awaited, its errors are logged. */
export type AfterWork = (settlement: Settlement) => unknown;

/**
 * What is to happen to a message, as a value that a handler returns or throws. A frozen plain object, a new
 * one from each call.
 * @publicApi
 */
export interface Outcome {
  readonly kind: OutcomeKind;
  /** The text given to `drop`. */
  readonly reason?: string;
  /**
   * The delay given to `retryAfter`, without which the subscription's backoff applies, or the duration given to
   * `pauseFor`.
   */
  readonly delay?: Duration;
  /**
   * The same outcome with a callback that runs after the settlement. Callbacks run once, in the order in
   * which they were added, after the frames of the decision have been written, whatever the decision was.
   * They do not run if the message was not acknowledged because its channel closed, could not be
   * republished, or was requeued at shutdown, nor after failFast. Shutdown waits for them; an error in one
   * is logged and changes nothing.
   * @example return ack().andAfter(() => this.mail.receipt(order));
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
  // The callback sees the asynchronous context in which it was added, not that of the settlement.
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
 * Acknowledges the message. A handler that returns nothing does the same.
 * @publicApi
 */
export function ack(): Outcome {
  return create('ack');
}

/**
 * Rejects the message, or dead-letters it if `deadLetter` is set. A message that is rejected goes to the
 * queue's own dead-letter exchange, if it has one; otherwise RabbitMQ deletes it.
 * @param reason the header `x-settle-error-message` of the dead letter.
 * @example return drop('unknown customer');
 * @publicApi
 */
export function drop(reason?: string): Outcome {
  return create('drop', reason === undefined ? undefined : { reason });
}

/**
 * Retries the message at once, up to `retry.attempts`; then it is dead-lettered, or rejected without
 * `deadLetter`. Without `retry` it is requeued, possibly for ever.
 * @publicApi
 */
export function retry(): Outcome {
  return create('retry');
}

/**
 * Retries the message no sooner than after `delay`, up to `retry.attempts`. The message is republished to a
 * queue in which it waits, and acknowledged once RabbitMQ has confirmed that: a crash in between makes a
 * duplicate and loses nothing.
 * @param delay default: the subscription's backoff. 0 is `retry()`, a fraction of a millisecond is rounded
 * up. An invalid delay, or one of more than 49 days, is logged as an error and the backoff is used.
 * @example return retryAfter('30s');
 * @publicApi
 */
export function retryAfter(delay?: Duration): Outcome {
  return create('retryAfter', delay === undefined ? undefined : { delay });
}

/**
 * Pauses the subscription for `duration` and retries the message then, without an attempt: for a dependency
 * that is down for every message. The consumer is cancelled, then the message is requeued. Where RabbitMQ
 * counts that (quorum queues before 4.3), it is republished with the same attempt instead: a crash in between
 * makes a duplicate and loses nothing. Nothing limits how often this happens to a message.
 * @param duration at least 100 ms. One that is invalid, or longer than 49 days, is logged as an error and the
 * backoff is used. If the subscription is paused already, the longer pause applies.
 * @example return pauseFor('30s');
 * @publicApi
 */
export function pauseFor(duration: Duration): Outcome {
  return create('pauseFor', { delay: duration });
}

const KINDS: ReadonlySet<unknown> = new Set<OutcomeKind>([
  'ack',
  'drop',
  'retry',
  'retryAfter',
  'pauseFor',
]);

/**
 * Whether a value is an outcome, of this or another copy of this package. Never throws.
 * @publicApi
 */
export function isOutcome(value: unknown): value is Outcome {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return (value as Inside)[OUTCOME] === true && KINDS.has((value as Inside).kind);
  } catch {
    return false; // A proxy or a getter that throws, which no outcome has.
  }
}

/** The callbacks that `andAfter` has added, in order. */
export function workOf(outcome: Outcome): readonly AfterWork[] {
  return (outcome as Inside)[WORK] ?? [];
}

/** The outcome with a mark of the failure policy that it comes from. */
export function markFailure(outcome: Outcome, failure: FailureMark): Outcome {
  return Object.freeze({ ...outcome, [FAILURE]: failure } as Inside);
}

/** The failure policy that an outcome comes from; `undefined` if the handler itself returned or threw it. */
export function failureMarkOf(outcome: Outcome): FailureMark | undefined {
  return (outcome as Inside)[FAILURE];
}

/** The outcome of a handler that returned nothing. */
export const DONE = ack();
