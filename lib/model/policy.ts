import { texts } from '../log/texts';
import type { Delivery } from './delivery';
import type { Cause } from './failure-mark';
import {
  ack,
  drop,
  isOutcome,
  markFailure,
  type Outcome,
  pauseFor,
  retry,
  retryAfter,
} from './outcome';

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

/** A policy as it was applied: one that has a name, or `pauseFor()`. */
export type AppliedPolicyName = PolicyName | 'pauseFor';

/** A policy that is known before anything fails. */
export type FixedPolicy = PolicyName | Outcome;

/**
 * A policy that depends on the error. If it throws, or returns neither an outcome nor the name of a policy,
 * that is logged and the default applies: for a rule of `onError` the policy at its end.
 * @example (error, delivery) => (delivery.attempt < 3 ? retry() : drop('gave up'))
 * @publicApi
 */
export type PolicyFunction<E = unknown> = (error: E, delivery: Delivery) => FixedPolicy;

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
 * - an outcome decides as if the handler had returned it: `pauseFor('30s')` pauses the subscription;
 * - a function decides by the error.
 * @publicApi
 */
export type FailurePolicy<E = unknown> = FixedPolicy | PolicyFunction<E>;

/** A class of errors. */
export type ErrorClass<E extends object = object> = abstract new (...args: never[]) => E;

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
 * A rule of `onError`: `policy` applies to errors that match, or that hold one which does: in their chain of
 * causes, or among the `errors` of an `AggregateError`. A policy function is called with the error that
 * matches. A predicate that throws is logged and counts as no match.
 * @example onError: [on(BankTimeout, 'retryAfter'), on([NotFound, Gone], 'skip'), 'drop']
 * @example on(RateLimited, (error) => retryAfter(Math.max(0, error.resetAt - Date.now())))
 * @publicApi
 */
export function on<E>(
  match: (error: unknown, delivery: Delivery) => error is E,
  policy: FailurePolicy<E>,
): ErrorRule;
export function on(
  match: (error: unknown, delivery: Delivery) => boolean,
  policy: FailurePolicy,
): ErrorRule;
export function on<E extends object>(match: ErrorClass<E>, policy: FailurePolicy<E>): ErrorRule;
export function on<const T extends readonly ErrorClass[]>(
  match: T,
  policy: FailurePolicy<InstanceType<T[number]>>,
): ErrorRule;
export function on(match: ErrorMatch, policy: FailurePolicy): ErrorRule;
export function on(match: ErrorMatch, policy: FailurePolicy<never>): ErrorRule {
  // The policy is called with nothing but what `match` accepts.
  return Object.freeze({ match, policy: policy as FailurePolicy });
}

/** Whether a function is a class: one of errors, or one in the syntax of classes. */
export function isClass(value: unknown): value is ErrorClass {
  if (typeof value !== 'function') return false;
  const { prototype } = value as { readonly prototype?: unknown };
  if (value === Error || prototype instanceof Error) return true;
  return /^class\b/.test(Function.prototype.toString.call(value));
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
  if (typeof policy === 'string') return policy;
  return typeof policy === 'function' ? 'a function' : `${policy.kind}()`;
}

/** Whether a value is the name of a policy or an outcome. */
export function isFixedPolicy(value: unknown): value is FixedPolicy {
  return (typeof value === 'string' && Object.hasOwn(POLICIES, value)) || isOutcome(value);
}

// Given in the place of an outcome: the error would become the reason or the delay.
const FACTORIES: ReadonlySet<unknown> = new Set([drop, retryAfter, pauseFor]);

/** Whether a value is a failure policy. */
export function isFailurePolicy(value: unknown): value is FailurePolicy {
  if (typeof value !== 'function') return isFixedPolicy(value);
  return !isClass(value) && !FACTORIES.has(value);
}

/** The name of a policy; that of an outcome is the policy which decides alike, a function has none. */
export function policyName(policy: FixedPolicy): AppliedPolicyName;
export function policyName(policy: FailurePolicy): AppliedPolicyName | undefined;
export function policyName(policy: FailurePolicy): AppliedPolicyName | undefined {
  if (typeof policy === 'function') return undefined;
  if (typeof policy === 'string') return policy;
  return policy.kind === 'ack' ? 'skip' : policy.kind;
}

/**
 * The outcome of a policy that is applied to an error.
 * @param isFirst whether this is attempt 1 of a message that is not flagged as redelivered.
 */
export function outcomeOfPolicy(
  policy: FixedPolicy,
  cause: Cause,
  error: unknown,
  isFirst: boolean,
): Outcome {
  if (typeof policy !== 'string') {
    return markFailure(policy, { policy: policyName(policy), cause, error });
  }
  const row: PolicyRow = POLICIES[policy];
  const applied = isFirst ? policy : (row.afterFirst ?? policy);
  return markFailure(POLICIES[applied].outcome(), { policy: applied, cause, error });
}
