import type { DeadLetterReason, Decision, RepublishDecision } from '../model/decision';
import type { RepublishFailureScope } from '../model/errors';
import type { Cause } from '../model/failure-mark';

/** A pause in whole ms. */
interface Paused {
  readonly pauseMs: number;
}

/** A delay in whole ms; `backoff`: it came from the subscription, not from the handler. */
interface Delayed {
  readonly delayMs: number;
  readonly backoff?: boolean;
}

/**
 * An outcome as the decision needs it: what the handler returned or threw (`kind`), or what a failure
 * policy decided in its place (`policy`, with the cause).
 */
export type Verdict =
  | { readonly kind: 'ack' | 'drop' | 'retry' }
  | ({ readonly kind: 'retryAfter' } & Delayed)
  | ({ readonly kind: 'pauseFor' } & Paused)
  | { readonly policy: 'failFast' | 'drop' | 'skip' | 'retry'; readonly cause: Cause }
  | ({ readonly policy: 'retryAfter'; readonly cause: Cause } & Delayed)
  | ({ readonly policy: 'pauseFor'; readonly cause: Cause } & Paused);

/** The options of a subscription that decisions depend on. */
export interface DecisionOptions {
  readonly retry?:
    | {
        readonly attempts: number;
        readonly by?: 'client' | 'broker';
        readonly maxDeliveries?: number;
        /** In ms. */
        readonly maxAge?: number | undefined;
      }
    | undefined;
  readonly deadLetter?: { readonly by?: 'client' | 'broker' } | undefined;
  /** Set if messages with the same key are kept in order. */
  readonly order?: object | undefined;
  readonly noAck?: boolean;
}

/** What is known of the attempts before. */
export interface EarlierAttempts {
  /** Whether the message was republished for a retry. */
  readonly isRetried?: boolean;
  /** How long ago the message first failed, in ms; `undefined` if that is not known. */
  readonly ageMs?: number | undefined;
}

const ACK: Decision = Object.freeze({ kind: 'ack' });
const REJECT: Decision = Object.freeze({ kind: 'reject' });
const REJECT_WITH_WARNING: Decision = Object.freeze({ kind: 'reject', warn: true });
const REQUEUE: Decision = Object.freeze({ kind: 'requeue' });
const LEAVE_UNSETTLED: Decision = Object.freeze({ kind: 'leaveUnsettled' });
const NONE: Decision = Object.freeze({ kind: 'none' });

/**
 * The one place that turns an outcome into a decision. Pure: the same input, the same decision.
 * @param attempt the number of this attempt, from 1.
 * @param countsRedeliveries whether the broker counts the redeliveries of this queue.
 * @param countsRequeues whether it counts a message that is requeued unprocessed.
 * @param earlier what is known of the attempts before.
 */
export function decide(
  verdict: Verdict,
  options: DecisionOptions,
  attempt: number,
  countsRedeliveries: boolean,
  countsRequeues = false,
  earlier: EarlierAttempts = {},
): Decision {
  const asked = 'kind' in verdict ? verdict.kind : verdict.policy;
  if (asked === 'failFast') return LEAVE_UNSETTLED;
  if ('pauseMs' in verdict) return paused(verdict, options, attempt, countsRequeues, earlier);
  if (options.noAck) return NONE;
  if (asked === 'ack' || asked === 'skip') return ACK;
  if (asked === 'drop') {
    return deadLetter(options, 'cause' in verdict ? verdict.cause : 'drop') ?? REJECT;
  }
  // The limits are checked before any retry.
  if (options.retry && attempt >= options.retry.attempts) return decisionAtTheCap(options);
  const delayed = 'delayMs' in verdict ? verdict : { delayMs: 0 };
  const { maxAge = Number.POSITIVE_INFINITY } = options.retry ?? {};
  if ((earlier.ageMs ?? 0) + delayed.delayMs > maxAge) return decisionAtTheCap(options, 'max-age');
  return nextAttempt(delayed, options, attempt, countsRedeliveries, earlier);
}

// The attempt does not count, so there is no cap to look at.
function paused(
  { pauseMs }: Paused,
  { noAck, retry, order }: DecisionOptions,
  attempt: number,
  countsRequeues: boolean,
  { ageMs }: EarlierAttempts,
): Decision {
  if (noAck) return { kind: 'none', pauseMs };
  // Only a republished message can carry when it first failed; one of an order would lose its place.
  const beginsAge = retry?.maxAge !== undefined && ageMs === undefined && order === undefined;
  return countsRequeues || beginsAge
    ? { kind: 'republish', attempt, delayMs: 0, pauseMs }
    : { kind: 'requeue', pauseMs };
}

/** The decision about a message that has reached a limit. */
export function decisionAtTheCap(
  options: DecisionOptions,
  reason: 'attempts' | 'max-age' = 'attempts',
): Decision {
  return deadLetter(options, reason) ?? REJECT_WITH_WARNING;
}

/**
 * The decision about a message that could not be republished; `undefined` if it is requeued, to be tried
 * again later. A message that is refused itself is dead-lettered, else rejected: the dead-letter exchange of
 * its queue takes it, if there is one. A queue that is refused or missing never costs a message, but
 * a message that was to be retried through it can be dead-lettered.
 * @param failed the decision that could not be carried out.
 */
export function decisionUnpublished(
  failed: RepublishDecision,
  scope: RepublishFailureScope,
  options: DecisionOptions,
): Decision | undefined {
  if (scope === 'broker') return undefined;
  const dead = failed.kind === 'republish' ? deadLetter(options, 'republish-failed') : undefined;
  return dead ?? (scope === 'message' ? REJECT_WITH_WARNING : undefined);
}

function deadLetter(options: DecisionOptions, reason: DeadLetterReason): Decision | undefined {
  if (!options.deadLetter) return undefined;
  // Rejected, the queue's own dead-letter exchange takes it.
  return options.deadLetter.by === 'broker' ? REJECT : { kind: 'deadLetter', reason };
}

function nextAttempt(
  { delayMs, backoff = false }: Delayed,
  { retry }: DecisionOptions,
  attempt: number,
  countsRedeliveries: boolean,
  { isRetried = false, ageMs }: EarlierAttempts,
): Decision {
  const republish: Decision = { kind: 'republish', attempt: attempt + 1, delayMs };
  const brokerDelays = retry?.by === 'broker' && countsRedeliveries;
  // Only a republished message can carry when it first failed.
  if (retry?.maxAge !== undefined && ageMs === undefined) return republish;
  // The broker counts a republished message, and so its delay, from 1 again.
  if (delayMs > 0) return brokerDelays && backoff && !isRetried ? REQUEUE : republish;
  // A broker that delays what is requeued retries at once only what is republished.
  if (retry && (brokerDelays || !countsRedeliveries)) return republish;
  return REQUEUE;
}
