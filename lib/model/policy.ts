import { texts } from '../log/texts';
import type { Delivery } from './delivery';
import type { Cause } from './failure-mark';
import { ack, drop, isOutcome, markFailure, type Outcome, retry, retryAfter } from './outcome';

/** One named policy. */
interface PolicyRow {
  /** The outcome it stands for. */
  outcome(): Outcome;
  /** The policy that takes its place on any but the first delivery of a message. */
  readonly afterFirst?: 'drop';
}

// The one list of policies: checks and texts come from it, and the compiler holds it against the type. A message that is left
// unacknowledged is redelivered once its channel closes, hence the outcome of the fail-fast policies.
const POLICIES = {
  failFast: { outcome: retry },
  failFastOnce: { outcome: retry, afterFirst: 'drop' },
  drop: { outcome: drop },
  skip: { outcome: ack },
  retry: { outcome: retry },
  retryAfter: { outcome: retryAfter },
} as const satisfies Readonly<Record<PolicyName, PolicyRow>>;

/** The policies that have a name. */
export type PolicyName = 'failFast' | 'failFastOnce' | 'drop' | 'skip' | 'retry' | 'retryAfter';

/**
 * What happens to a message when its handler fails:
 * - `'failFast'` shuts the application down and leaves the message unacknowledged, so that it is
 *   redelivered;
 * - `'failFastOnce'` does so at attempt 1 of a message that is not flagged as redelivered, and drops it
 *   otherwise, so that one poison message can't stop every instance again and again;
 * - `'drop'` rejects the message, or dead-letters it if `deadLetter` is set;
 * - `'skip'` acknowledges it;
 * - `'retry'` retries it at once, `'retryAfter'` after the subscription's backoff, both up to
 *   `retry.attempts`;
 * - an outcome decides as if the handler had returned it.
 * @publicApi
 */
export type FailurePolicy = PolicyName | Outcome;

/** A class of errors. */
export type ErrorClass = abstract new (...args: never[]) => object;

/**
 * One rule of `onError`, made by `on()`.
 * @publicApi
 */
export interface ErrorRule {
  readonly match: ErrorMatch;
  readonly policy: FailurePolicy;
}

/** The errors that a rule matches: instances of a class or of several, or what a predicate accepts. */
export type ErrorMatch =
  | ErrorClass
  | readonly ErrorClass[]
  | ((error: unknown, delivery: Delivery) => boolean);

/**
 * A rule of `onError`: `policy` applies to errors that match, or whose chain of causes holds one that
 * does. A predicate that throws is logged and counts as no match.
 * @example onError: [on(BankTimeout, 'retryAfter'), on([NotFound, Gone], 'skip'), 'drop']
 * @publicApi
 */
export function on(match: ErrorMatch, policy: FailurePolicy): ErrorRule {
  return Object.freeze({ match, policy });
}

/** Whether a value is a rule of `on()`. */
export function isErrorRule(value: unknown): value is ErrorRule {
  return typeof value === 'object' && value !== null && 'match' in value && 'policy' in value;
}

/**
 * `onError`, normalised: the first rule that matches applies, else `otherwise`.
 * @publicApi
 */
export interface ErrorPolicy {
  readonly rules: readonly ErrorRule[];
  readonly otherwise: FailurePolicy;
}

/** What a policy is expected to be. */
export const POLICY_EXPECTED: string = texts.policyExpected(Object.keys(POLICIES));

/** A policy as log lines show it. */
export function policyText(policy: FailurePolicy): string {
  return typeof policy === 'string' ? policy : `${policy.kind}()`;
}

/** Whether a value is a failure policy. */
export function isFailurePolicy(value: unknown): value is FailurePolicy {
  return (typeof value === 'string' && Object.hasOwn(POLICIES, value)) || isOutcome(value);
}

/** The name of a policy; that of an outcome is the policy which decides alike. */
export function policyName(policy: FailurePolicy): PolicyName {
  if (typeof policy === 'string') return policy;
  return policy.kind === 'ack' ? 'skip' : policy.kind;
}

/**
 * The outcome of a policy that is applied to an error.
 * @param isFirst whether this is attempt 1 of a message that is not flagged as redelivered.
 */
export function outcomeOfPolicy(
  policy: FailurePolicy,
  cause: Cause,
  error: unknown,
  isFirst: boolean,
): Outcome {
  const name = policyName(policy);
  const row: PolicyRow = POLICIES[name];
  const applied = isFirst ? name : (row.afterFirst ?? name);
  const outcome = typeof policy === 'string' ? POLICIES[applied].outcome() : policy;
  return markFailure(outcome, { policy: applied, cause, error });
}
