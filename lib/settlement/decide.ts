import type { Cause } from '../outcome/failure';

/** Why a message is put into the dead-letter queue. */
export type DeadLetterReason = 'attempts' | 'drop' | Cause;

/**
 * What is to be done with a delivery. A copy is followed by an acknowledgement of the original, once
 * the broker has confirmed the copy and not returned it.
 * @publicApi
 */
export type Decision =
  | { readonly do: 'acknowledge' }
  /** `warn`: a message is lost here that a dead-letter queue would have kept. */
  | { readonly do: 'reject'; readonly warn?: true }
  | { readonly do: 'requeue' }
  | { readonly do: 'copyToRetryAddress'; readonly attempt: number; readonly delayMs: number }
  | { readonly do: 'copyToDeadLetter'; readonly reason: DeadLetterReason }
  | { readonly do: 'leaveUnsettled' }
  | { readonly do: 'nothing' }
  /** On arrival only: the handler is called. */
  | { readonly do: 'run' };

/** A delay in whole ms; `backoff`: it came from the subscription, not from the handler. */
interface Delayed {
  readonly delayMs: number;
  readonly backoff?: boolean;
}

/**
 * An outcome as the decision needs it: what the handler said (`kind`), what a policy said in its place
 * (`policy`, with the cause), or that the delivery has just come in (`arrival`).
 */
export type Verdict =
  | { readonly arrival: true; readonly acquired?: number }
  | { readonly kind: 'ack' | 'drop' | 'retry' }
  | ({ readonly kind: 'retryAfter' } & Delayed)
  | { readonly policy: 'failFast' | 'drop' | 'skip' | 'retry'; readonly cause: Cause }
  | ({ readonly policy: 'retryAfter'; readonly cause: Cause } & Delayed);

/** What of a subscription the decision looks at. */
export interface DecisionTerms {
  readonly retry?:
    | {
        readonly attempts: number;
        readonly by?: 'runtime' | 'broker';
        /** How often the broker may hand a message out, what costs no attempt included. */
        readonly acquisitions?: number;
      }
    | undefined;
  readonly deadLetter?: { readonly by?: 'runtime' | 'broker' } | undefined;
  readonly noAck?: boolean;
}

const ACKNOWLEDGE: Decision = Object.freeze({ do: 'acknowledge' });
const REJECT: Decision = Object.freeze({ do: 'reject' });
const REJECT_WITH_WARNING: Decision = Object.freeze({ do: 'reject', warn: true });
const REQUEUE: Decision = Object.freeze({ do: 'requeue' });
const LEAVE_UNSETTLED: Decision = Object.freeze({ do: 'leaveUnsettled' });
const NOTHING: Decision = Object.freeze({ do: 'nothing' });
const RUN: Decision = Object.freeze({ do: 'run' });

/**
 * The one place that turns an outcome into a decision. Pure: the same input, the same decision.
 * @param attempt how often the message was handed out, this time included.
 * @param counts whether the broker keeps a count of redeliveries for this queue.
 */
export function decide(
  verdict: Verdict,
  terms: DecisionTerms,
  attempt: number,
  counts: boolean,
): Decision {
  if ('arrival' in verdict) {
    const { attempts = 0, acquisitions = Number.POSITIVE_INFINITY } = terms.retry ?? {};
    const isPoison = attempt > attempts || (verdict.acquired ?? 0) > acquisitions;
    return !terms.noAck && terms.retry && isPoison ? atTheCap(terms) : RUN;
  }
  const said = 'kind' in verdict ? verdict.kind : verdict.policy;
  if (said === 'failFast') return LEAVE_UNSETTLED;
  if (terms.noAck) return NOTHING;
  if (said === 'ack' || said === 'skip') return ACKNOWLEDGE;
  if (said === 'drop') {
    return deadLetter(terms, 'cause' in verdict ? verdict.cause : 'drop') ?? REJECT;
  }
  // The cap is looked at before any retry.
  if (terms.retry && attempt >= terms.retry.attempts) return atTheCap(terms);
  return again('delayMs' in verdict ? verdict : { delayMs: 0 }, terms, attempt, counts);
}

function atTheCap(terms: DecisionTerms): Decision {
  return deadLetter(terms, 'attempts') ?? REJECT_WITH_WARNING;
}

function deadLetter(terms: DecisionTerms, reason: DeadLetterReason): Decision | undefined {
  if (!terms.deadLetter) return undefined;
  // Rejected, the queue's own route takes it.
  return terms.deadLetter.by === 'broker' ? REJECT : { do: 'copyToDeadLetter', reason };
}

function again(
  { delayMs, backoff = false }: Delayed,
  { retry }: DecisionTerms,
  attempt: number,
  counts: boolean,
): Decision {
  const copy: Decision = { do: 'copyToRetryAddress', attempt: attempt + 1, delayMs };
  const brokerDelays = retry?.by === 'broker' && counts;
  if (delayMs > 0) return brokerDelays && backoff ? REQUEUE : copy;
  // Where the broker delays what comes back to it, only a copy comes again at once.
  if (retry && (brokerDelays || !counts)) return copy;
  return REQUEUE;
}
