import { texts } from '../log/texts';
import { LONGEST_DELAY } from './duration';
import type { ErrorMatch } from './policy';

/** A predicate of `on()` that also knows how long to wait for the policy `'retryAfter'`. */
interface DelayingMatch {
  (error: unknown): boolean;
  readonly [DELAY]: (error: unknown, now: number) => number | undefined;
}

// Registered, so that matches of another copy of this package are recognised.
const DELAY = Symbol.for('nestjs-settle.error-match.delay');

/** The codes of Node.js and of common HTTP clients for a network that failed. */
const NETWORK_CODES: ReadonlySet<unknown> = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ERR_NETWORK',
  'ERR_SOCKET_CONNECTION_TIMEOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ESOCKETTIMEDOUT',
  'ETIMEDOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/**
 * Matches errors of a network that failed, by their `code`: a connection that was refused, reset or timed
 * out, an unreachable host, a name that DNS does not resolve. Those of Node.js, and of HTTP clients such as
 * `fetch` and axios, whose own error has one of them as its cause.
 * @example onError: [on(network(), 'retryAfter'), 'drop']
 * @publicApi
 */
export function network(): (error: unknown) => boolean {
  return (error) => NETWORK_CODES.has(read(error, 'code'));
}

/**
 * Matches errors of HTTP clients, and Nest's HTTP exceptions, by their status. With the policy
 * `'retryAfter'` a response header `Retry-After`, in seconds or as a date, is the delay, at most 49 days;
 * without one, or if it has passed, the backoff applies.
 * @param statuses at least one, from 100 to 599.
 * @example onError: [on(http(429, 503), 'retryAfter'), on(http(404, 410), 'skip'), 'drop']
 * @throws RangeError if there is no status, or an invalid one.
 * @publicApi
 */
export function http(...statuses: readonly number[]): (error: unknown) => boolean {
  const isStatus = (status: unknown): boolean =>
    Number.isInteger(status) && (status as number) >= 100 && (status as number) <= 599;
  required('http', texts.statusesExpected, statuses, isStatus);
  const match = (error: unknown): boolean => statuses.some((one) => one === statusOf(error));
  const delaying: DelayingMatch = Object.assign(match, { [DELAY]: retryAfterOf });
  return delaying;
}

/**
 * Matches errors of SQL databases by their SQLSTATE: five characters, or the two of a class. It is found in
 * the errors of the drivers for PostgreSQL, MySQL and MariaDB, and of the libraries that wrap them.
 * @param states at least one, such as `'40'` (transaction rolled back: deadlocks, serialization failures),
 * `'08'` (connection), `'23505'` (unique violation).
 * @example onError: [on(sqlState('40', '08'), 'retryAfter'), on(sqlState('23505'), 'skip'), 'drop']
 * @throws RangeError if there is no state, or an invalid one.
 * @publicApi
 */
export function sqlState(...states: readonly string[]): (error: unknown) => boolean {
  const isState = (state: unknown): boolean =>
    typeof state === 'string' && /^[0-9A-Z]{2}(?:[0-9A-Z]{3})?$/.test(state);
  required('sqlState', texts.sqlStatesExpected, states, isState);
  return (error) =>
    sqlStatesOf(error).some((found) => states.some((state) => found.startsWith(state)));
}

/**
 * How long the policy `'retryAfter'` waits by what the error of a match says, in ms; `undefined` if it says
 * nothing.
 * @param now ms since the epoch.
 */
export function delayOfMatch(match: ErrorMatch, error: unknown, now: number): number | undefined {
  return (match as Partial<DelayingMatch>)[DELAY]?.(error, now);
}

function required(
  name: string,
  expected: string,
  values: readonly unknown[],
  isValid: (value: unknown) => boolean,
): void {
  if (values.length > 0 && values.every(isValid)) return;
  throw new RangeError(texts.errorMatch(name, expected, values));
}

// Clients put it on the error, on its response, or in what AWS calls metadata.
function statusOf(error: unknown): unknown {
  const response = read(error, 'response');
  const found = [
    read(error, 'status'),
    read(error, 'statusCode'),
    read(response, 'status'),
    read(response, 'statusCode'),
    read(read(error, '$metadata'), 'httpStatusCode'),
  ];
  return found.find((one) => typeof one === 'number');
}

function retryAfterOf(error: unknown, now: number): number | undefined {
  const headers = [
    read(read(error, 'response'), 'headers'),
    read(error, 'headers'),
    read(read(error, '$response'), 'headers'),
  ];
  const value = headers.map(retryAfterIn).find((one) => one !== undefined);
  const isText = typeof value === 'string' || typeof value === 'number';
  const ms = isText ? millisecondsFrom(String(value), now) : undefined;
  return ms !== undefined && ms > 0 ? Math.min(ms, LONGEST_DELAY) : undefined;
}

function retryAfterIn(headers: unknown): unknown {
  const get = read(headers, 'get');
  try {
    if (typeof get === 'function') return get.call(headers, 'retry-after') ?? undefined;
  } catch {
    return undefined; // Not headers of an HTTP client.
  }
  return read(headers, 'retry-after') ?? read(headers, 'Retry-After');
}

function millisecondsFrom(value: string, now: number): number | undefined {
  if (value.length > 40) return undefined;
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1_000;
  const ms = Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : ms;
}

// TypeORM has the driver's error as `driverError`, Sequelize as `original`, Prisma its code in `meta`.
function sqlStatesOf(error: unknown): readonly string[] {
  const holders = [error, read(error, 'driverError'), read(error, 'original'), read(error, 'meta')];
  const found = holders.flatMap((holder) => [read(holder, 'sqlState'), read(holder, 'code')]);
  return found.filter((one): one is string => typeof one === 'string' && one.length === 5);
}

function read(value: unknown, property: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return Reflect.get(value, property);
  } catch {
    return undefined; // A getter that throws has nothing to say about the error.
  }
}
