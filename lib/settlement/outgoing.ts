import type { RepublishTarget } from '../amqp/port';
import { deadLetterMessageOf, type OutgoingMessage, retryMessageOf } from '../delivery/republish';
import type { RepublishDecision } from '../model/decision';
import { failureMarkOf, type Outcome } from '../model/outcome';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { InFlight } from './in-flight';

/** A message that a decision publishes, and where. */
export interface Outgoing {
  readonly message: OutgoingMessage;
  readonly target: RepublishTarget;
}

/**
 * The message that a decision publishes in place of a delivered one. A dead letter describes the last
 * error; without one, why the message could not be republished, if that is the reason.
 * @param now ms since the epoch.
 */
export function outgoingOf(
  { delivery, unpublished }: InFlight,
  outcome: Outcome,
  decision: RepublishDecision,
  subscription: SubscriptionMetadata,
  now: number,
): Outgoing {
  if (decision.kind === 'republish') {
    const { attempt, delayMs } = decision;
    const message = retryMessageOf(delivery, attempt, now);
    return { message, target: { to: 'retry', delayMs, subscription } };
  }
  const { reason } = decision;
  const failure = failureMarkOf(outcome);
  const diagnosis = {
    reason,
    error:
      failure === undefined && reason === 'republish-failed' ? unpublished?.error : failure?.error,
    text: outcome.reason,
    withStack: subscription.deadLetter?.stack ?? false,
  };
  const message = deadLetterMessageOf(delivery, diagnosis, now);
  return { message, target: { to: 'deadLetter', subscription } };
}
