import { thrownMessage, thrownName, thrownStack } from '../log/thrown';
import type { DeliveryRecord } from './delivery-record';
import { isDroppedOnRepublish, SettleHeaders } from './headers';

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
  const left: Record<string, unknown> = Object.assign(Object.create(null), table);
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
  return copyOf(delivery, {
    [SettleHeaders.attempt]: attempt,
    ...firstFailure(delivery, now),
  });
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
  return copyOf(delivery, {
    [SettleHeaders.reason]: diagnosis.reason,
    ...describe(diagnosis),
    [SettleHeaders.attemptsMade]: attemptsMade(delivery),
    ...firstFailure(delivery, now),
    [SettleHeaders.failedAt]: new Date(now).toISOString(),
    [SettleHeaders.handler]: delivery.subscription.handler,
  });
}

// A delivery beyond the cap was handed over without being run.
function attemptsMade({ attempt, subscription }: DeliveryRecord): number {
  return Math.min(attempt, subscription.retry?.attempts ?? attempt);
}

function copyOf(delivery: DeliveryRecord, own: Readonly<Record<string, unknown>>): OutgoingMessage {
  const { message, queue, exchange, routingKey } = delivery;
  const properties: Record<string, unknown> = {};
  for (const name of KEPT) {
    const value: unknown = message.properties[name];
    if (value !== undefined) properties[name] = value;
  }
  const headers: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(delivery.headers)) {
    if (!isDroppedOnRepublish(name)) headers[name] = value;
  }
  Object.assign(headers, own);
  headers[SettleHeaders.queue] = queue;
  headers[SettleHeaders.exchange] = exchange;
  headers[SettleHeaders.routingKey] = routingKey;
  return { body: message.content, properties, headers };
}

function firstFailure(delivery: DeliveryRecord, now: number): Record<string, string> {
  const known = delivery.firstFailedAt ?? (delivery.attempt === 1 ? new Date(now) : undefined);
  return known === undefined ? {} : { [SettleHeaders.firstFailedAt]: known.toISOString() };
}

function describe({ error, text, withStack }: Diagnosis): Record<string, string> {
  const described: Record<string, string> = {};
  if (error !== undefined) {
    described[SettleHeaders.errorName] = bounded(thrownName(error), HEADER_BOUNDS.name);
    described[SettleHeaders.errorMessage] = bounded(thrownMessage(error), HEADER_BOUNDS.message);
    const stack = withStack ? thrownStack(error) : undefined;
    if (stack !== undefined) {
      const whole = stack.header + stack.frames;
      described[SettleHeaders.errorStack] = bounded(whole, HEADER_BOUNDS.stack);
    }
  }
  if (text !== undefined) {
    described[SettleHeaders.errorMessage] = bounded(thrownMessage(text), HEADER_BOUNDS.message);
  }
  return described;
}

/** The longest beginning of a text that fits in so many bytes, no character cut. */
export function bounded(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  return Buffer.from(text)
    .subarray(0, bytes)
    .toString()
    .replace(/\uFFFD+$/, '');
}
