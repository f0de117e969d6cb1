import type { AppliedPolicyName } from './policy';

/** Why a failure policy was applied. */
export type Cause = 'error' | 'timeout' | 'invalid-payload' | 'unmatched' | 'panic';

/** Whether the message alone can be the cause, not what its handler depends on. */
export function isAboutTheMessage(cause: Cause): boolean {
  return cause === 'invalid-payload' || cause === 'unmatched';
}

/** The failure policy behind an outcome: which one, why, and for what error. */
export interface FailureMark {
  readonly policy: AppliedPolicyName;
  readonly cause: Cause;
  /** What was thrown; not necessarily an `Error`. */
  readonly error: unknown;
}
