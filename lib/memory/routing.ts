import { isDeepStrictEqual } from 'node:util';
import { matchesTopic } from '../delivery/topic-pattern';
import { fieldTypeOf } from './field-values';
import { type RefusedMethod, ServerError } from './server-error';
import type { Table } from './stored-message';

/** The types of exchanges. */
export const EXCHANGE_TYPES = ['direct', 'topic', 'fanout', 'headers'] as const;

export type ExchangeType = (typeof EXCHANGE_TYPES)[number];

export function isExchangeType(type: string): type is ExchangeType {
  return (EXCHANGE_TYPES as readonly string[]).includes(type);
}

/** One binding of an exchange to a queue or another exchange. */
export interface ExchangeBinding {
  readonly destination: string;
  readonly toExchange: boolean;
  readonly key: string;
  readonly arguments: Table;
}

/** Whether a binding matches a message. */
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
      return matchesTopic(binding.key, routingKey);
    case 'headers':
      return matchesHeaders(binding.arguments, headers ?? {});
  }
}

/** `x-match` is `all` by default; keys that begin with `x-` are compared only with its forms `-with-x`. */
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

const MATCHES: readonly unknown[] = ['all', 'any', 'all-with-x', 'any-with-x'];

/** @throws ServerError 406 for a value of `x-match` that a headers exchange does not know. */
export function requireValidBinding(binding: ExchangeBinding, method: RefusedMethod): void {
  const match = binding.arguments['x-match'];
  if (match === undefined || MATCHES.includes(match)) return;
  const type = fieldTypeOf(match);
  const text =
    type === 'longstr'
      ? `Invalid x-match field value <<"${match}">>; expected all, any, all-with-x, or any-with-x`
      : `Invalid x-match field type ${type} (value ${match}); expected longstr`;
  throw new ServerError(406, text, method);
}
