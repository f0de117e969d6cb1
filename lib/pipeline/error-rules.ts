import { texts } from '../log/texts';
import type { Delivery } from '../model/delivery';
import {
  type ErrorClass,
  type ErrorMatch,
  type ErrorPolicy,
  type FailurePolicy,
  isClass,
} from '../model/policy';
import { requireSync } from './require-sync';

/** How many errors are examined: the error itself, its causes, and what an AggregateError holds. */
const MOST_ERRORS = 32;

/** A policy and the error that it is about. */
export interface AppliedPolicy {
  readonly policy: FailurePolicy;
  readonly error: unknown;
  /** What the rule matches; `undefined` for the policy at the end. */
  readonly match?: ErrorMatch;
}

/**
 * The policy of the first rule that matches the error or anything that it holds, with what it matches; else
 * the one at the end.
 * @param failed receives the error of a predicate that threw; it counts as no match.
 */
export function policyFor(
  { rules, otherwise }: ErrorPolicy,
  error: unknown,
  delivery: Delivery,
  failed: (error: unknown) => void,
): AppliedPolicy {
  if (rules.length === 0) return { policy: otherwise, error };
  const errors = errorsIn(error);
  for (const { match, policy } of rules) {
    const index = errors.findIndex((one) => isMatched(match, one, delivery, failed));
    if (index >= 0) return { policy, error: errors[index], match };
  }
  return { policy: otherwise, error };
}

/**
 * Whether an error, or anything that it holds, is matched.
 * @param failed receives the error of a predicate that threw; it counts as no match.
 */
export function matchesError(
  match: ErrorMatch,
  error: unknown,
  delivery: Delivery,
  failed: (error: unknown) => void,
): boolean {
  return errorsIn(error).some((one) => isMatched(match, one, delivery, failed));
}

function isMatched(
  match: ErrorMatch,
  error: unknown,
  delivery: Delivery,
  failed: (error: unknown) => void,
): boolean {
  try {
    return matches(match, error, delivery);
  } catch (thrown) {
    failed(thrown);
    return false;
  }
}

// The nearest first. It may be circular, or have no end.
function errorsIn(error: unknown): readonly unknown[] {
  const found: unknown[] = [error];
  for (const one of found) {
    for (const held of heldBy(one)) {
      if (found.length >= MOST_ERRORS) return found;
      if (!found.includes(held)) found.push(held);
    }
  }
  return found;
}

function heldBy(error: unknown): readonly unknown[] {
  if (typeof error !== 'object' || error === null) return [];
  try {
    const cause: unknown = Reflect.get(error, 'cause');
    const errors: unknown = isAggregate(error) ? error.errors : [];
    const listed = Array.isArray(errors) ? errors.slice(0, MOST_ERRORS) : [];
    return cause === undefined ? listed : [cause, ...listed];
  } catch {
    return []; // A getter that throws: nothing further is known.
  }
}

// Also one of another realm.
function isAggregate(error: object): error is AggregateError {
  return error instanceof AggregateError || Reflect.get(error, 'name') === 'AggregateError';
}

function matches(match: ErrorMatch, error: unknown, delivery: Delivery): boolean {
  if (isList(match)) return match.some((type) => error instanceof type);
  if (isClass(match)) return error instanceof match;
  return requireSync(match(error, delivery), texts.predicateReturnedPromise) === true;
}

function isList(match: ErrorMatch): match is readonly ErrorClass[] {
  return Array.isArray(match);
}
