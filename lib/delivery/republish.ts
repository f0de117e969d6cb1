import { thrownMessage, thrownName, thrownStack } from '../log/thrown';
import type { IncomingMessage } from '../model/delivery';
import type { DeliveryRecord } from './delivery-record';
import { headerOf, isDroppedOnRepublish, newHeaderTable, SettleHeaders } from './headers';

/** The properties that a copy keeps. */
const KEPT = [
  'contentType',
  'contentEncoding',
  'deliveryMode',
  'priority',
  'correlationId',
  'replyTo',
  'messageId',
  'timestamp',
  'type',
  'appId',
] as const;

/** A message to be published in the place of a delivered one: its bytes, and what goes with them. */
export interface OutgoingMessage {
  readonly body: Buffer;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A message without some of its properties and headers. */
export function reducedMessage(
  { body, properties, headers }: OutgoingMessage,
  without: { readonly properties: readonly string[]; readonly headers: readonly string[] },
): OutgoingMessage {
  return {
    body,
    properties: withoutNames(properties, without.properties),
    headers: withoutNames(headers, without.headers),
  };
}

function withoutNames(
  table: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  const left = Object.assign(newHeaderTable(), table);
  for (const name of names) delete left[name];
  return left;
}

/** The bounds of the texts in a dead letter's headers, in bytes. */
export const HEADER_BOUNDS = Object.freeze({ name: 128, message: 1_024, stack: 4_096 });

/** What a dead letter tells about its end. */
export interface Diagnosis {
  readonly reason: string;
  /** What was thrown, if anything was. */
  readonly error?: unknown;
  /** The text given to `drop`; it stands in the place of the error's message. */
  readonly text?: string | undefined;
  readonly withStack: boolean;
}

/**
 * The copy that carries a message to its next attempt.
 * @param now ms since the epoch, for the first failure's time.
 */
export function retryMessageOf(
  delivery: DeliveryRecord,
  attempt: number,
  now: number,
): OutgoingMessage {
  const copy = copyOf(delivery);
  keepDiagnosis(copy.headers, delivery);
  copy.headers[SettleHeaders.attempt] = attempt;
  addFirstFailure(copy.headers, delivery, now);
  return withAddress(copy, delivery);
}

/**
 * The copy that goes to the dead-letter queue. It carries no attempt: put back in the queue by hand,
 * the message starts at attempt 1.
 * @param now ms since the epoch.
 */
export function deadLetterMessageOf(
  delivery: DeliveryRecord,
  diagnosis: Diagnosis,
  now: number,
): OutgoingMessage {
  const copy = copyOf(delivery);
  const { headers } = copy;
  headers[SettleHeaders.reason] = diagnosis.reason;
  addDescription(headers, diagnosis);
  headers[SettleHeaders.attemptsMade] = attemptsMade(delivery);
  addFirstFailure(headers, delivery, now);
  headers[SettleHeaders.failedAt] = isoTextOf(now);
  headers[SettleHeaders.handler] = delivery.subscription.handler;
  return withAddress(copy, delivery);
}

// What a dead letter says about the end of its message; where it came from gets names of its own.
const DIAGNOSIS: readonly (readonly [from: string, to: string])[] = [
  SettleHeaders.reason,
  SettleHeaders.errorName,
  SettleHeaders.errorMessage,
  SettleHeaders.errorStack,
  SettleHeaders.attemptsMade,
  SettleHeaders.failedAt,
  SettleHeaders.handler,
  SettleHeaders.originQueue,
  SettleHeaders.originExchange,
  SettleHeaders.originRoutingKey,
].map((name) => [name, name] as const);
const ORIGIN: typeof DIAGNOSIS = [
  [SettleHeaders.queue, SettleHeaders.originQueue],
  [SettleHeaders.exchange, SettleHeaders.originExchange],
  [SettleHeaders.routingKey, SettleHeaders.originRoutingKey],
];

// A subscription of a dead-letter queue can retry, too.
function keepDiagnosis(headers: Record<string, unknown>, delivery: DeliveryRecord): void {
  const { isRetried, headers: delivered } = delivery;
  if (headerOf(delivered, SettleHeaders.reason) === undefined) return;
  // A dead letter that was put back starts anew.
  const isPutBack = !isRetried && headerOf(delivered, SettleHeaders.queue) === delivery.queue;
  if (isPutBack) return;
  for (const [from, to] of isRetried ? DIAGNOSIS : [...DIAGNOSIS, ...ORIGIN]) {
    const value = headerOf(delivered, from);
    if (value !== undefined) headers[to] = value;
  }
}

// A delivery beyond the cap was handed over without being run.
function attemptsMade({ attempt, subscription }: DeliveryRecord): number {
  return Math.min(attempt, subscription.retry?.attempts ?? attempt);
}

interface Copy extends OutgoingMessage {
  readonly headers: Record<string, unknown>;
}

/** The properties that a message keeps when it is published again. */
export function keptPropertiesOf({ properties }: IncomingMessage): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of KEPT) {
    const value: unknown = properties[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

function copyOf({ message, headers: delivered }: DeliveryRecord): Copy {
  const properties = keptPropertiesOf(message);
  const headers = newHeaderTable();
  for (const name of Object.keys(delivered)) {
    if (!isDroppedOnRepublish(name)) headers[name] = delivered[name];
  }
  return { body: message.content, properties, headers };
}

function withAddress(copy: Copy, delivery: DeliveryRecord): OutgoingMessage {
  const { headers } = copy;
  const { queue, exchange, routingKey, trace } = delivery;
  headers[SettleHeaders.queue] = queue;
  headers[SettleHeaders.exchange] = exchange;
  headers[SettleHeaders.routingKey] = routingKey;
  if (trace !== undefined) headers[SettleHeaders.trace] = trace;
  return copy;
}

function addFirstFailure(
  headers: Record<string, unknown>,
  delivery: DeliveryRecord,
  now: number,
): void {
  const { attempt, firstFailedAt, subscription } = delivery;
  // The age needs a beginning: the first failure that was seen.
  const isFirst = attempt === 1 || subscription.retry?.maxAge !== undefined;
  const known = firstFailedAt?.getTime() ?? (isFirst ? now : undefined);
  if (known !== undefined) headers[SettleHeaders.firstFailedAt] = isoTextOf(known);
}

function addDescription(
  headers: Record<string, unknown>,
  { error, text, withStack }: Diagnosis,
): void {
  if (error !== undefined) {
    headers[SettleHeaders.errorName] = bounded(thrownName(error), HEADER_BOUNDS.name);
    headers[SettleHeaders.errorMessage] = bounded(thrownMessage(error), HEADER_BOUNDS.message);
    const stack = withStack ? thrownStack(error) : undefined;
    if (stack !== undefined) {
      const whole = stack.header + stack.frames;
      headers[SettleHeaders.errorStack] = bounded(whole, HEADER_BOUNDS.stack);
    }
  }
  if (text !== undefined) {
    headers[SettleHeaders.errorMessage] = bounded(thrownMessage(text), HEADER_BOUNDS.message);
  }
}

let lastTime = Number.NaN;
let lastText = '';

// Messages fail many to a millisecond.
function isoTextOf(ms: number): string {
  if (ms !== lastTime) {
    lastText = new Date(ms).toISOString();
    lastTime = ms;
  }
  return lastText;
}

/** The longest beginning of a text that fits in so many bytes, no character cut. */
export function bounded(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text;
  return Buffer.from(text)
    .subarray(0, bytes)
    .toString()
    .replace(/\uFFFD+$/, '');
}
