import { headerOf } from '../delivery/headers';
import type { Headers } from '../model/delivery';

/** An entry of the header `x-death`: how often a message was dead-lettered in a queue for a reason. */
export interface Death {
  readonly queue: string;
  readonly reason: string;
  readonly count: number;
  /** The first time. */
  readonly at: Date | undefined;
  /** The exchange through which the message had come to the queue. */
  readonly exchange: string | undefined;
  readonly routingKey: string | undefined;
}

/** The entries of `x-death`, the newest first, without malformed ones. Never throws. */
export function deathsOf(headers: Headers): readonly Death[] {
  const entries = headerOf(headers, 'x-death');
  return Array.isArray(entries) ? entries.flatMap(deathOf) : [];
}

/** A number of AMQP's type timestamp, which counts seconds; `undefined` for anything else. */
export function timestampOf(value: unknown): Date | undefined {
  const seconds = isTable(value) && value['!'] === 'timestamp' ? value['value'] : value;
  return typeof seconds === 'number' ? validDate(seconds * 1_000) : undefined;
}

/** A date from a text or a number of ms; `undefined` if it is not a date. */
export function validDate(value: string | number | undefined): Date | undefined {
  if (value === undefined) return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** A header that is a whole number from 0; `undefined` for any other value. */
export function countOf(headers: Headers, name: string): number | undefined {
  const value = headerOf(headers, name);
  return isCount(value) ? value : undefined;
}

function deathOf(entry: unknown): Death[] {
  if (!isTable(entry)) return [];
  const of = (name: string): unknown => headerOf(entry, name);
  const [queue, reason, count, keys] = [of('queue'), of('reason'), of('count'), of('routing-keys')];
  if (typeof queue !== 'string' || queue === '') return [];
  return [
    {
      queue,
      reason: text(reason) ?? 'unknown',
      count: isCount(count) ? count : 1,
      at: timestampOf(of('time')),
      exchange: text(of('exchange')),
      routingKey: Array.isArray(keys) ? text(keys[0]) : undefined,
    },
  ];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isTable(value: unknown): value is Headers {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
