import { LONGEST_DELAY, milliseconds } from '../outcome/duration';
import { failureOf, type Outcome } from '../outcome/outcome';
import { DEFAULT_BACKOFF } from '../subscription/backoff';
import type { Subscription } from '../subscription/subscription';
import type { Verdict } from './decide';

/**
 * What the decision needs of an outcome: who spoke, and each delay as whole ms.
 * @param refused is told of a delay that can't be waited for: the value, and where it came from. The
 * delivery then goes on under the backoff.
 */
export function verdictOf(
  outcome: Outcome,
  { backoff }: Subscription,
  attempt: number,
  refused: (value: unknown, source: 'outcome' | 'backoff') => void,
): Verdict {
  const failure = failureOf(outcome);
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
    if (outcome.delay !== undefined) {
      const delayMs = milliseconds(outcome.delay);
      if (delayMs !== undefined) return { delayMs, backoff: false };
      refused(outcome.delay, 'outcome');
    }
    return { delayMs: backoffDelay(), backoff: true };
  }

  function backoffDelay(): number {
    let value: unknown;
    try {
      value = backoff.delay(attempt);
    } catch (error) {
      value = error;
    }
    const delayMs =
      typeof value === 'number' ? milliseconds(Math.min(value, LONGEST_DELAY)) : undefined;
    if (delayMs !== undefined) return delayMs;
    refused(value, 'backoff');
    return DEFAULT_BACKOFF.delay(attempt);
  }
}
