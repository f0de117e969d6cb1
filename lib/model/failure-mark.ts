import type { PolicyName } from './policy';

/** Why a failure policy was applied. */
export type Cause = 'error' | 'timeout' | 'invalid-payload' | 'unmatched' | 'panic';

/** The failure policy behind an outcome: which one, why, and for what error. */
export interface FailureMark {
  readonly policy: PolicyName;
  readonly cause: Cause;
  /** What was thrown; not necessarily an `Error`. */
  readonly error: unknown;
}
