import { milliseconds } from '../model/duration';

/** Whether a value is a whole number from `least` to `most`. */
export function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** Whether a value can name a queue: a text of 1 to 255 bytes. */
export function isQueueName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= 255;
}

/** Whether a value is a duration longer than 0. */
export function isPositiveDuration(value: unknown): boolean {
  return (milliseconds(value) ?? 0) > 0;
}

/** Whether a value is a backoff, this library's or the application's own. */
export function isBackoff(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'delay' in value &&
    typeof value.delay === 'function'
  );
}

/** Whether a value can be matched by a rule: a class, classes or a predicate. */
export function isMatch(match: unknown): boolean {
  const matches: readonly unknown[] = Array.isArray(match) ? match : [match];
  return matches.every((one) => typeof one === 'function');
}

/** Whether a value, or each one of a list that is not empty, is valid. */
export function isOneOrMore(value: unknown, isValid: (one: unknown) => boolean): boolean {
  return Array.isArray(value) ? value.length > 0 && value.every(isValid) : isValid(value);
}

/** Whether a value is one that a header can be compared with. */
export function isHeaderValue(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}
