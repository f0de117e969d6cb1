import type { Delivery } from './delivery';
import type { Cause, PolicyName } from './failure-mark';
import { ack, drop, isOutcome, markFailure, type Outcome, retry, retryAfter } from './outcome';

/**
 * What the runtime says in the handler's place:
 * - `'failFast'` stops the service and leaves the delivery unsettled;
 * - `'failFastOnce'` does so at attempt 1 of a delivery that is not flagged redelivered, and drops it
 *   otherwise, so that one poison message can't stop the fleet again and again;
 * - `'drop'`, `'retry'`, `'retryAfter'` decide as the outcome of that name does, `'skip'` as `ack()`;
 * - an outcome decides as itself.
 * @publicApi
 */
export type FailurePolicy = PolicyName | Outcome;

/** A class of errors. */
export type ErrorClass = abstract new (...args: never[]) => object;

/**
 * One line of `onError`: made by `on()`.
 * @publicApi
 */
export interface ErrorRule {
  readonly match: ErrorMatch;
  readonly policy: FailurePolicy;
}

/** What a rule looks for: instances of a class or of one of several, or what a predicate accepts. */
export type ErrorMatch =
  | ErrorClass
  | readonly ErrorClass[]
  | ((error: unknown, delivery: Delivery) => boolean);

/**
 * One rule of `onError`: errors that match, or whose chain of causes holds one that does, are decided
 * by `policy`. A predicate that throws is logged and counts as no match.
 * @publicApi
 */
export function on(match: ErrorMatch, policy: FailurePolicy): ErrorRule {
  return Object.freeze({ match, policy });
}

/** Whether a value is a rule of `on()`. */
export function isErrorRule(value: unknown): value is ErrorRule {
  return typeof value === 'object' && value !== null && 'match' in value && 'policy' in value;
}

/** `onError`, in order: the first rule that matches speaks, else the policy at the end. */
export interface ErrorPolicy {
  readonly rules: readonly ErrorRule[];
  readonly otherwise: FailurePolicy;
}

/** A policy as log lines show it. */
export function policyText(policy: FailurePolicy): string {
  return typeof policy === 'string' ? policy : `${policy.kind}()`;
}

const NAMES: ReadonlySet<unknown> = new Set<PolicyName>([
  'failFast',
  'failFastOnce',
  'drop',
  'skip',
  'retry',
  'retryAfter',
]);

/** Whether a value is a failure policy. */
export function isFailurePolicy(value: unknown): value is FailurePolicy {
  return NAMES.has(value) || isOutcome(value);
}

/** The name under which a policy decides. */
export function policyName(policy: FailurePolicy): PolicyName {
  if (typeof policy === 'string') return policy;
  return policy.kind === 'ack' ? 'skip' : policy.kind;
}

// A fail-fast delivery goes back to the queue when its channel closes, hence the kind.
const OUTCOMES: Readonly<Record<PolicyName, () => Outcome>> = {
  failFast: retry,
  failFastOnce: retry,
  drop,
  skip: ack,
  retry,
  retryAfter,
};

/**
 * The outcome of a policy that was asked about an error. `firstTime` is whether this is attempt 1 of
 * a delivery that is not flagged redelivered; only `'failFastOnce'` looks at it.
 */
export function outcomeOfPolicy(
  policy: FailurePolicy,
  cause: Cause,
  error: unknown,
  firstTime: boolean,
): Outcome {
  const name = policyName(policy);
  const decided = name !== 'failFastOnce' ? name : firstTime ? 'failFast' : 'drop';
  const outcome = typeof policy === 'string' ? OUTCOMES[decided]() : policy;
  return markFailure(outcome, { policy: decided, cause, error });
}
