import { texts } from '../log/texts';
import type { DescribedLetter } from './describe';
import { groupKeyOf } from './groups';

/**
 * Selects dead letters; all that is given has to match, of a list any entry.
 * @publicApi
 */
export interface DeadLetterFilter {
  /**
   * Why it was dead-lettered.
   * @example 'timeout'
   */
  readonly reason?: string | readonly string[] | undefined;
  /**
   * The class of the error.
   * @example 'BankTimeout'
   */
  readonly errorName?: string | readonly string[] | undefined;
  /**
   * The class and method.
   * @example 'Billing.charge'
   */
  readonly handler?: string | readonly string[] | undefined;
  /** As its publisher has set it. */
  readonly messageId?: string | readonly string[] | undefined;
  /** The `key` of a group in the result of `list`. */
  readonly group?: string | readonly string[] | undefined;
  /** The earliest time of the failure, itself included: a date, ISO 8601, or ms since the epoch. */
  readonly from?: Date | string | number | undefined;
  /** The latest time of the failure, itself included. */
  readonly to?: Date | string | number | undefined;
}

type Matches = (letter: DescribedLetter) => boolean;

const VALUES: Readonly<Record<string, (letter: DescribedLetter) => string | undefined>> = {
  reason: ({ reason }) => reason,
  errorName: ({ errorName }) => errorName,
  handler: ({ handler }) => handler,
  messageId: ({ messageId }) => messageId,
  group: groupKeyOf,
};

/**
 * A function that tells whether a dead letter matches. Messages without a time do not match `from` and `to`.
 * @throws TypeError if the filter is not valid: a misspelt name would select everything.
 */
export function matcherOf(where: DeadLetterFilter = {}): Matches {
  const tests = Object.entries(where)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => testOf(name, value));
  return (letter) => tests.every((test) => test(letter));
}

function testOf(name: string, value: unknown): Matches {
  if (name === 'from' || name === 'to') return timeTestOf(name, value);
  const read = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  if (read === undefined) throw new TypeError(texts.deadLetterFilterUnknown(name));
  const allowed = new Set<unknown>(Array.isArray(value) ? value : [value]);
  if ([...allowed].some((one) => typeof one !== 'string')) {
    throw new TypeError(
      texts.deadLetterFilterInvalid(name, 'a string or a list of strings', value),
    );
  }
  return (letter) => allowed.has(read(letter));
}

function timeTestOf(name: 'from' | 'to', value: unknown): Matches {
  const isKnown = value instanceof Date || typeof value === 'string' || typeof value === 'number';
  const time = isKnown ? new Date(value).getTime() : Number.NaN;
  if (Number.isNaN(time)) {
    throw new TypeError(texts.deadLetterFilterInvalid(name, 'a date', value));
  }
  return ({ failedAt }) => {
    if (failedAt === undefined) return false;
    return name === 'from' ? failedAt.getTime() >= time : failedAt.getTime() <= time;
  };
}
