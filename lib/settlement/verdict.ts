import { DEFAULT_BACKOFF } from '../model/backoff';
import { LONGEST_DELAY, milliseconds } from '../model/duration';
import { failureMarkOf, type Outcome } from '../model/outcome';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { Verdict } from './decide';

/** Where a delay comes from that can't be waited for; `serverNamed`: the queue has no lasting name. */
export type DelaySource = 'outcome' | 'backoff' | 'serverNamed';

/**
 * What the decision needs of an outcome: who spoke, and each delay as whole ms.
 * @param refused is told of a delay that can't be waited for: the value, and where it came from. The
 * delivery then goes on under the backoff; where the server names the queue, it comes again at once.
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
    return outcome.kind === 'retryAfter'
      ? { kind: 'retryAfter', ...delayOf() }
      : { kind: outcome.kind };
  }
  const { cause } = failure;
  if (policy === 'retryAfter') return { policy, cause, ...delayOf() };
  return { policy: policy === 'failFastOnce' ? 'failFast' : policy, cause };

  function delayOf(): { delayMs: number; backoff: boolean } {
    if (queue === undefined) {
      // What waits for a queue that the server names comes back to a queue that is gone.
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
