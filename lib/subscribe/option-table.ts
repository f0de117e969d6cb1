import { texts } from '../log/texts';
import { milliseconds } from '../model/duration';
import type { DeadLetterOptions, RetryOptions, SubscribeOptions } from '../model/options';
import type { DecompressOptions, WhenOptions } from '../model/payload-options';
import { isFailurePolicy, POLICY_EXPECTED } from '../model/policy';
import { isPayloadSchema } from '../model/schema';
import { bytes } from '../model/size';
import {
  isBackoff,
  isHeaderValue,
  isOneOrMore,
  isPositiveDuration,
  isQueueName,
  isWhole,
} from './value-checks';

/** One option: the one place for its check, its default and its line in the reference. */
export interface OptionRow {
  /** What the option may be, as faults and the reference say it. */
  readonly expected: string;
  /** What applies if it is not set, as the reference says it. */
  readonly byDefault: string;
  /** The value that applies if neither the subscription nor the module sets it. */
  readonly fallback?: unknown;
  /** Whether `defaults` of the module may set it for all subscriptions. */
  readonly inDefaults?: true;
  /** Whether a value that is set is valid; absent if golevelup or another check looks at it. */
  accepts?(value: unknown): boolean;
}

const BOOLEAN: OptionRow = { expected: 'true or false', byDefault: 'false', fallback: false };
const POSITIVE_DURATION = {
  expected: `${texts.durationExpected}, longer than 0`,
  accepts: isPositiveDuration,
};
const POLICY = { expected: POLICY_EXPECTED, accepts: isFailurePolicy, inDefaults: true } as const;
const PERFORMED_BY: OptionRow = {
  expected: "'client' or 'broker'",
  byDefault: "'client'",
  fallback: 'client',
  accepts: (value) => value === 'client' || value === 'broker',
};

/** The options of `@Subscribe`. */
export const SUBSCRIBE_OPTIONS: Readonly<Record<keyof SubscribeOptions, OptionRow>> = {
  exchange: { expected: 'the name of an exchange', byDefault: 'no binding' },
  routingKey: { expected: 'a routing key or a list of them', byDefault: 'the empty key' },
  bindings: { expected: 'a list of { exchange, routingKey }', byDefault: 'none' },
  queue: { expected: texts.queueExpected, byDefault: 'server-named', accepts: isQueueName },
  queueOptions: { expected: 'queue options of golevelup', byDefault: 'durable' },
  createQueueIfNotExists: { expected: 'true or false', byDefault: 'true' },
  connection: { expected: 'the name of a connection', byDefault: 'the only connection' },
  name: { expected: 'a name in handlers of the connection', byDefault: 'the queue' },
  deserializer: {
    expected: 'a function (body, message) => payload',
    byDefault: 'JSON in UTF-8',
    inDefaults: true,
  },
  allowNonJsonMessages: { ...BOOLEAN, inDefaults: true },
  queueType: {
    expected: "'classic' or 'quorum'",
    byDefault: "'classic'",
    inDefaults: true,
    accepts: (value) => value === 'classic' || value === 'quorum',
  },
  prefetch: {
    expected: 'a whole number from 1 to 65 535',
    byDefault: 'that of the connection, else 10',
    inDefaults: true,
    accepts: (value) => isWhole(value, 1, 65_535),
  },
  concurrency: {
    expected: 'a whole number from 1 to 65 535, at most the prefetch',
    byDefault: 'the prefetch',
    inDefaults: true,
    accepts: (value) => isWhole(value, 1, 65_535),
  },
  rate: {
    expected: 'an object with limit and per',
    byDefault: 'no limit',
    inDefaults: true,
    accepts: (value) => typeof value === 'object' && value !== null,
  },
  batch: {
    expected: 'an object with size',
    byDefault: 'one message at a time',
    accepts: (value) => typeof value === 'object' && value !== null,
  },
  stuckAfter: {
    expected: `${texts.durationExpected}, or false`,
    byDefault: "'5m'",
    fallback: '5m',
    inDefaults: true,
    accepts: (value) => value === false || milliseconds(value) !== undefined,
  },
  order: {
    expected: 'an object with by',
    byDefault: 'no order',
    accepts: (value) => typeof value === 'object' && value !== null,
  },
  singleActiveConsumer: { ...BOOLEAN, accepts: (value) => typeof value === 'boolean' },
  consumerPriority: {
    expected: 'a whole number from -2 147 483 648 to 2 147 483 647',
    byDefault: '0',
    accepts: (value) => isWhole(value, -(2 ** 31), 2 ** 31 - 1),
  },
  consumerTimeout: {
    expected: `${texts.durationExpected}, at least one minute`,
    byDefault: 'that of the queue or the server',
    accepts: (value) => (milliseconds(value) ?? 0) >= 60_000,
  },
  retry: { expected: 'an object with attempts', byDefault: 'no limit, no count' },
  deadLetter: {
    expected: 'the name of a queue, 1 to 255 bytes',
    byDefault: 'dropped messages are rejected',
  },
  killSwitch: {
    expected: 'an object, or false',
    byDefault: 'no kill switch',
    accepts: (value) => value === false || (typeof value === 'object' && value !== null),
  },
  timeout: { ...POSITIVE_DURATION, byDefault: 'no limit', inDefaults: true },
  onError: {
    expected: `rules of on(...), or ${POLICY_EXPECTED}`,
    byDefault: "'drop'",
    fallback: 'drop',
    inDefaults: true,
  },
  onPanic: { ...POLICY, byDefault: "'failFast'", fallback: 'failFast' },
  onInvalidPayload: { ...POLICY, byDefault: "'drop'", fallback: 'drop' },
  schema: { expected: texts.schemaExpected, byDefault: 'no check', accepts: isPayloadSchema },
  when: {
    expected: 'an object with routingKey, type or header',
    byDefault: 'every message',
    accepts: (value) => typeof value === 'object' && value !== null,
  },
  onUnmatched: { expected: POLICY_EXPECTED, byDefault: "'drop'", accepts: isFailurePolicy },
  decompress: {
    expected: 'an object with max',
    byDefault: 'compressed bodies are invalid payloads',
    inDefaults: true,
    accepts: (value) => typeof value === 'object' && value !== null,
  },
  requestScope: { ...BOOLEAN, accepts: (value) => typeof value === 'boolean' },
  noAck: BOOLEAN,
  declare: {
    expected: 'true, false or an object',
    byDefault: 'true',
    fallback: true,
    inDefaults: true,
  },
};

/** The options of `retry`. */
export const RETRY_OPTIONS: Readonly<Record<keyof RetryOptions, OptionRow>> = {
  attempts: {
    expected: 'a whole number from 1 to 10 000',
    byDefault: 'required',
    accepts: (value) => isWhole(value, 1, 10_000),
  },
  maxAge: { ...POSITIVE_DURATION, byDefault: 'no limit' },
  backoff: {
    expected: texts.backoffExpected,
    byDefault: "exponential('1s', { max: '5m' })",
    accepts: isBackoff,
  },
  by: PERFORMED_BY,
  maxDeliveries: {
    expected: 'a whole number, at least retry.attempts',
    byDefault: '1 000, or 10 times the attempts',
    accepts: (value) => isWhole(value, 1, Number.MAX_SAFE_INTEGER),
  },
};

/** The options of `deadLetter`; a text stands for its queue. */
export const DEAD_LETTER_OPTIONS: Readonly<Record<keyof DeadLetterOptions, OptionRow>> = {
  queue: { expected: 'the name of a queue, 1 to 255 bytes', byDefault: 'required' },
  by: PERFORMED_BY,
  stack: BOOLEAN,
  queueOptions: { expected: 'queue options of golevelup', byDefault: 'durable' },
};

/** The options of `decompress`. */
export const DECOMPRESS_OPTIONS: Readonly<Record<keyof DecompressOptions, OptionRow>> = {
  max: {
    expected: "a number of bytes or a text such as '16MiB', below 2GiB",
    byDefault: 'required',
    accepts: (value) => bytes(value) !== undefined,
  },
};

/** The options of `when`. */
export const WHEN_OPTIONS: Readonly<Record<keyof WhenOptions, OptionRow>> = {
  routingKey: {
    expected: 'a routing key pattern of at most 255 bytes, or a list of them',
    byDefault: 'any',
    accepts: (value) =>
      isOneOrMore(value, (one) => typeof one === 'string' && Buffer.byteLength(one) <= 255),
  },
  type: {
    expected: 'a text, or a list of texts',
    byDefault: 'any',
    accepts: (value) => isOneOrMore(value, (one) => typeof one === 'string'),
  },
  header: {
    expected: 'an object of headers with their values: texts, numbers or booleans',
    byDefault: 'any',
    accepts: (value) =>
      typeof value === 'object' &&
      value !== null &&
      isOneOrMore(Object.values(value), (one) => isOneOrMore(one, isHeaderValue)),
  },
};
