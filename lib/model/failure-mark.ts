/** Why a failure policy was asked. */
export type Cause = 'error' | 'timeout' | 'invalid-payload' | 'panic';

/** What a policy decides, by name; a policy that is an outcome has the name of its kind. */
export type PolicyName = 'failFast' | 'failFastOnce' | 'drop' | 'skip' | 'retry' | 'retryAfter';

/** A failure policy that has spoken: which one, why, and over what. */
export interface FailureMark {
  readonly policy: PolicyName;
  readonly cause: Cause;
  /** What was thrown. It need not be an `Error`. */
  readonly error: unknown;
}
