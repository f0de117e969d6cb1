import type { Delivery } from '../model/delivery';
import type { ErrorClass, ErrorMatch, ErrorPolicy, FailurePolicy } from '../model/policy';
import { requireSync } from './require-sync';

/** How far a chain of causes is followed. */
const LONGEST_CHAIN = 32;

/**
 * The policy of the first rule that matches the error or anything in its chain of causes, else the one
 * at the end.
 * @param failed is told of a predicate that threw; it counts as no match.
 */
export function policyFor(
  { rules, otherwise }: ErrorPolicy,
  error: unknown,
  delivery: Delivery,
  failed: (error: unknown) => void,
): FailurePolicy {
  if (rules.length === 0) return otherwise;
  const chain = causesOf(error);
  const matched = rules.find(({ match }) =>
    chain.some((link) => {
      try {
        return matches(match, link, delivery);
      } catch (thrown) {
        failed(thrown);
        return false;
      }
    }),
  );
  return matched?.policy ?? otherwise;
}

function causesOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  let link = error;
  while (chain.length < LONGEST_CHAIN && !chain.includes(link)) {
    chain.push(link);
    if (typeof link !== 'object' || link === null) break;
    try {
      const cause: unknown = Reflect.get(link, 'cause');
      if (cause === undefined) break;
      link = cause;
    } catch {
      break; // A getter that throws ends the chain.
    }
  }
  return chain;
}

function matches(match: ErrorMatch, error: unknown, delivery: Delivery): boolean {
  if (isList(match)) return match.some((type) => error instanceof type);
  if (isClass(match)) return error instanceof match;
  return requireSync(match(error, delivery)) === true;
}

function isList(match: ErrorMatch): match is readonly ErrorClass[] {
  return Array.isArray(match);
}

// A predicate is a function as well; a class has a prototype that it can't be called without.
function isClass(match: Exclude<ErrorMatch, readonly ErrorClass[]>): match is ErrorClass {
  const { prototype } = match as { readonly prototype?: unknown };
  if (match === Error || prototype instanceof Error) return true;
  return /^class\b/.test(Function.prototype.toString.call(match));
}
