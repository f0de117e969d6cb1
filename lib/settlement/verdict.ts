import { DEFAULT_BACKOFF } from '../model/backoff';
import { LONGEST_DELAY, milliseconds } from '../model/duration';
import { failureMarkOf, type Outcome } from '../model/outcome';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { Verdict } from './decide';

/** The shortest pause, in ms: without one, a message would come straight back for ever. */
const SHORTEST_PAUSE = 100;

/** Why a delay can't be used: an invalid outcome or backoff, or a server-named queue. */
export type DelaySource = 'outcome' | 'pause' | 'backoff' | 'serverNamed';

/**
 * An outcome as the decision needs it: of the handler or of a policy, delays in whole ms.
 * @param refused called with a delay that can't be used. The backoff is used instead; on a server-named
 * queue the message is retried at once.
 */
export function verdictOf(
  outcome: Outcome,
  { backoff, queue }: SubscriptionMetadata,
  attempt: number,
  refused: (value: unknown, source: DelaySource) => void,
): Verdict {
  const failure = failureMarkOf(outcome);
  const policy = failure?.policy;
  if (failure === undefined || policy === undefined) {
    const { kind } = outcome;
    if (kind === 'pauseFor') return { kind, pauseMs: pauseMs() };
    return kind === 'retryAfter' ? { kind, ...delayOf() } : { kind };
  }
  const { cause } = failure;
  if (policy === 'pauseFor') return { policy, cause, pauseMs: pauseMs() };
  if (policy === 'retryAfter') return { policy, cause, ...delayOf() };
  return { policy: policy === 'failFastOnce' ? 'failFast' : policy, cause };

  function delayOf(): { delayMs: number; backoff: boolean } {
    if (queue === undefined) {
      // A message that waits would return to a queue that no longer exists.
      refused(outcome.delay, 'serverNamed');
      return { delayMs: 0, backoff: false };
    }
    if (outcome.delay !== undefined) {
      const delayMs = milliseconds(outcome.delay);
      if (delayMs !== undefined) return { delayMs, backoff: false };
      refused(outcome.delay, 'outcome');
    }
    return { delayMs: backoffDelay(), backoff: true };
  }

  function pauseMs(): number {
    const ms = milliseconds(outcome.delay);
    if (ms === undefined) refused(outcome.delay, 'pause');
    return Math.max(SHORTEST_PAUSE, ms ?? backoffDelay());
  }

  function backoffDelay(): number {
    try {
      const value: unknown = backoff.delay(attempt);
      const delayMs =
        typeof value === 'number' ? milliseconds(Math.min(value, LONGEST_DELAY)) : undefined;
      if (delayMs !== undefined) return delayMs;
      refused(value, 'backoff');
    } catch (error) {
      refused(error, 'backoff');
    }
    return DEFAULT_BACKOFF.delay(attempt);
  }
}
