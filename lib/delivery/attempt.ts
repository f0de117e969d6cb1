import type { Headers, IncomingMessage } from '../model/delivery';
import { headerOf, SettleHeaders } from './headers';
import { isWaitingQueue } from './waiting-queue';

/**
 * Whether this library has republished a message to this queue and nothing has moved it since: it came
 * through the default exchange, names the queue in `x-settle-queue`, and if it has been dead-lettered,
 * then last from one of the waiting queues of this queue, to which it came through the default exchange.
 * A message that a handler forwards with all its headers, or that an operator moves back after the broker
 * has dead-lettered it, does not count.
 */
export function isRepublished(message: IncomingMessage, queue: string): boolean {
  const { exchange, routingKey } = message.fields;
  if (exchange !== '' || routingKey !== queue) return false;
  const headers = message.properties.headers;
  if (headerOf(headers, SettleHeaders.queue) !== queue) return false;
  const deaths = headerOf(headers, 'x-death');
  if (deaths === undefined) return true;
  const newest: unknown = Array.isArray(deaths) ? deaths[0] : undefined;
  if (typeof newest !== 'object' || newest === null) return false;
  const from = (name: string): unknown => headerOf(newest as Headers, name);
  return from('exchange') === '' && isWaitingQueue(from('queue'), queue);
}

/** Which counts of a queue are the broker's own; elsewhere the headers are a client's, and are not read. */
export interface BrokerCounts {
  /** `x-delivery-count`. */
  readonly redeliveries: boolean;
  /** `x-acquired-count`. */
  readonly acquired: boolean;
}

/**
 * How often a message may have been delivered to this subscription, this time included: the attempt that
 * our own copy carries, else 1, plus the broker's count of redeliveries where it keeps one.
 * @param attempts `retry.attempts`. A header alone, which anybody can write, leaves at least one attempt.
 */
export function attemptOf(
  message: IncomingMessage,
  queue: string,
  counts: BrokerCounts,
  attempts = Number.POSITIVE_INFINITY,
): number {
  const carried = isRepublished(message, queue)
    ? headerOf(message.properties.headers, SettleHeaders.attempt)
    : undefined;
  const first = isCount(carried) && carried >= 1 ? Math.min(carried, attempts) : 1;
  return first + (counts.redeliveries ? brokerCountOf(message, counts.acquired) : 0);
}

/**
 * The broker's count of redeliveries; 0 if there is none. A message that is not flagged as redelivered has
 * none, whatever its headers are, and a count above the broker's `x-acquired-count` was set by a client.
 * @param countsAcquired whether `x-acquired-count` is the broker's.
 */
export function brokerCountOf(
  { fields, properties }: IncomingMessage,
  countsAcquired: boolean,
): number {
  if (!fields.redelivered) return 0;
  const count = headerOf(properties.headers, 'x-delivery-count');
  if (!isCount(count)) return 0;
  if (!countsAcquired) return count;
  const acquired = headerOf(properties.headers, 'x-acquired-count');
  if (acquired !== undefined && !(isCount(acquired) && count <= acquired)) return 0;
  return count;
}

/**
 * How often the broker has delivered a message, this time included, as an attempt or not. Only for queues
 * whose broker keeps that count: elsewhere a client can have set the header.
 */
export function acquiredOf({ fields, properties }: IncomingMessage): number {
  if (!fields.redelivered) return 1;
  const before = headerOf(properties.headers, 'x-acquired-count');
  return isCount(before) ? before + 1 : 1;
}

/**
 * Whether a redelivered message carries any count of the broker. On a quorum queue each one does; without
 * one the queue is not a quorum queue, whatever its subscription declares.
 * @param countsAcquired whether `x-acquired-count` is the broker's.
 */
export function hasBrokerCount({ properties }: IncomingMessage, countsAcquired: boolean): boolean {
  const { headers } = properties;
  return (
    headerOf(headers, 'x-delivery-count') !== undefined ||
    (countsAcquired && headerOf(headers, 'x-acquired-count') !== undefined)
  );
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31;
}
