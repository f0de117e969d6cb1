import type { Headers } from '../model/delivery';

/**
 * The headers that this library writes. The whole prefix `x-settle-` belongs to it: when it republishes a
 * message, it replaces what was there, except for the headers about replays.
 * @publicApi
 */
export const SettleHeaders = Object.freeze({
  /** On retried messages: the number of the attempt. */
  attempt: 'x-settle-attempt',
  /** On messages that are republished unprocessed because they may have been in flight when a consumer was lost. */
  lostConsumer: 'x-settle-lost-consumer',
  /** The queue that the message was republished for; the other headers are valid only there. */
  queue: 'x-settle-queue',
  /** The exchange to which the message was first published. */
  exchange: 'x-settle-exchange',
  /** The routing key with which the message was first published. */
  routingKey: 'x-settle-routing-key',
  /** A number that identifies a publish when the message is returned. */
  publishId: 'x-settle-copy',
  /**
   * On dead letters: `attempts`, `max-age`, `drop`, `error`, `timeout`, `invalid-payload`, `unmatched`,
   * `panic` or `republish-failed`.
   */
  reason: 'x-settle-reason',
  /** The name of the error, at most 128 bytes. */
  errorName: 'x-settle-error-name',
  /** The message of the error, or the text given to `drop`; at most 1 024 bytes. */
  errorMessage: 'x-settle-error-message',
  /** The stack of the error, at most 4 096 bytes; only with `deadLetter.stack`. */
  errorStack: 'x-settle-error-stack',
  /** How many attempts were made. */
  attemptsMade: 'x-settle-attempts-made',
  /** When the first attempt failed, ISO 8601; absent if RabbitMQ itself redelivered the message then. */
  firstFailedAt: 'x-settle-first-failed-at',
  /** When the last attempt failed, ISO 8601. */
  failedAt: 'x-settle-failed-at',
  /** The class and method. */
  handler: 'x-settle-handler',
  /**
   * With tracing: the W3C `traceparent` of the attempt that republished the message, a comma, and that of its
   * producer, if there is one.
   */
  trace: 'x-settle-trace',
  /** How often the message was replayed from a dead-letter queue; kept when it is republished. */
  replays: 'x-settle-replays',
  /** When it was last replayed, ISO 8601; kept when it is republished. */
  replayedAt: 'x-settle-replayed-at',
  /** On dead letters that a subscription of the dead-letter queue retries: the queue that they came from. */
  originQueue: 'x-settle-origin-queue',
  /** On such dead letters: the exchange to which the message was first published. */
  originExchange: 'x-settle-origin-exchange',
  /** On such dead letters: the routing key with which the message was first published. */
  originRoutingKey: 'x-settle-origin-routing-key',
});

// A constructed object keeps a hidden class, which one of `Object.create(null)` never has: tables with the
// same names are filled, copied and encoded faster.
const HeaderTable = function HeaderTable() {} as unknown as new () => Record<string, unknown>;
HeaderTable.prototype = Object.freeze(Object.create(null));

/** An empty table of headers that inherits nothing: amqplib also writes what a table inherits. */
export function newHeaderTable(): Record<string, unknown> {
  return new HeaderTable();
}

/**
 * Reads a header as an own property: a table key `__proto__` replaces the prototype of the object that
 * amqplib decodes, and the properties of such a prototype are not headers.
 */
export function headerOf(headers: Headers | null | undefined, name: string): unknown {
  return headers != null && Object.hasOwn(headers, name) ? headers[name] : undefined;
}

/** A header that is a string; `undefined` for any other value. */
export function textHeaderOf(
  headers: Headers | null | undefined,
  name: string,
): string | undefined {
  const value = headerOf(headers, name);
  return typeof value === 'string' ? value : undefined;
}

const BROKER_HEADERS: ReadonlySet<string> = new Set([
  'CC',
  'BCC',
  'x-death',
  'x-delivery-count',
  'x-acquired-count',
]);

/** A message that fails again after a replay still shows that it was replayed. */
const KEPT_HEADERS: ReadonlySet<string> = new Set([
  SettleHeaders.replays,
  SettleHeaders.replayedAt,
]);

/**
 * Whether a header is left out when a message is republished: the broker's own, and this library's except
 * for those about replays.
 */
export function isDroppedOnRepublish(name: string): boolean {
  return (
    (name.startsWith('x-settle-') && !KEPT_HEADERS.has(name)) ||
    name.startsWith('x-first-death-') ||
    name.startsWith('x-last-death-') ||
    BROKER_HEADERS.has(name)
  );
}
