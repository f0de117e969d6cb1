import { isDeepStrictEqual } from 'node:util';
import type { Table } from './stored-message';

/** The types of exchanges. */
export type ExchangeType = 'direct' | 'topic' | 'fanout' | 'headers';

/** One binding of an exchange to a queue or another exchange. */
export interface ExchangeBinding {
  readonly destination: string;
  readonly toExchange: boolean;
  readonly key: string;
  readonly arguments: Table;
}

/** Whether a binding lets a message through. */
export function routes(
  type: ExchangeType,
  binding: ExchangeBinding,
  routingKey: string,
  headers: Table | undefined,
): boolean {
  switch (type) {
    case 'fanout':
      return true;
    case 'direct':
      return binding.key === routingKey;
    case 'topic':
      return matchesTopic(wordsOf(binding.key), wordsOf(routingKey));
    case 'headers':
      return matchesHeaders(binding.arguments, headers ?? {});
  }
}

// The empty key has no words at all, `.` has two empty ones.
function wordsOf(key: string): readonly string[] {
  return key === '' ? [] : key.split('.');
}

/** `*` stands for one word, `#` for any number of them, none included. */
function matchesTopic(pattern: readonly string[], words: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return words.length === 0;
  if (first === '#') {
    return (
      words.some((_, index) => matchesTopic(rest, words.slice(index))) || matchesTopic(rest, [])
    );
  }
  const [word, ...others] = words;
  if (word === undefined) return false;
  return (first === '*' || first === word) && matchesTopic(rest, others);
}

/** `x-match` is `all` by default; keys that begin with `x-` count only with the forms `-with-x`. */
function matchesHeaders(wanted: Table, headers: Table): boolean {
  const mode = wanted['x-match'] ?? 'all';
  const withX = mode === 'all-with-x' || mode === 'any-with-x';
  const pairs = Object.entries(wanted).filter(
    ([name]) => name !== 'x-match' && (withX || !name.startsWith('x-')),
  );
  const matches = ([name, value]: [string, unknown]): boolean =>
    Object.hasOwn(headers, name) && (value === null || isDeepStrictEqual(headers[name], value));
  return mode === 'any' || mode === 'any-with-x' ? pairs.some(matches) : pairs.every(matches);
}
