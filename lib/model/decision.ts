import type { Cause } from './failure-mark';

/** Why a message is moved to the dead-letter queue. */
export type DeadLetterReason = 'attempts' | 'max-age' | 'drop' | 'republish-failed' | Cause;

/**
 * What is to be done with a delivery:
 * - `ack`: it is acknowledged;
 * - `reject`: it is rejected without requeue; `warn` if a dead-letter queue would have kept it;
 * - `requeue`: it is rejected with requeue, and a broker that counts redeliveries counts it;
 * - `republish`: the message is published for its next attempt, then the delivery is acknowledged;
 * - `deadLetter`: the message is published to the dead-letter queue, then the delivery is acknowledged;
 * - `leaveUnsettled`: nothing is sent and the application shuts down;
 * - `none`: nothing is sent, since the subscription is `noAck`.
 *
 * With `pauseMs` the subscription pauses first, for so long, and the attempt is not counted; a message is then
 * republished with the same attempt only where the broker would count its requeue.
 *
 * A delivery whose message is published is acknowledged only after the broker has confirmed the message
 * and not returned it: a crash in between makes a duplicate and loses nothing.
 * @publicApi
 */
export type Decision =
  | { readonly kind: 'ack' }
  | { readonly kind: 'reject'; readonly warn?: true }
  | { readonly kind: 'requeue'; readonly pauseMs?: number }
  | {
      readonly kind: 'republish';
      readonly attempt: number;
      readonly delayMs: number;
      readonly pauseMs?: number;
    }
  | { readonly kind: 'deadLetter'; readonly reason: DeadLetterReason }
  | { readonly kind: 'leaveUnsettled' }
  | { readonly kind: 'none'; readonly pauseMs?: number };

/** A decision that publishes the message. */
export type RepublishDecision = Extract<Decision, { kind: 'republish' | 'deadLetter' }>;

/** How long the subscription pauses first, in ms; `undefined` if it does not. */
export function pauseOf(decision: Decision): number | undefined {
  return 'pauseMs' in decision ? decision.pauseMs : undefined;
}
