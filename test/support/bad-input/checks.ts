import type { GetMessage } from 'amqplib';
import { expect } from 'vitest';
import type { Settlement } from '../../../lib';
import { isDroppedOnRepublish } from '../../../lib/delivery/headers';
import { HEADER_BOUNDS, keptPropertiesOf } from '../../../lib/delivery/republish';
import type { LogKind } from '../../../lib/log/kinds';
import type { LogRecorder } from '../log-recorder';

const LONGEST_LINE = 1_500;
const LONGEST_STACK = 25_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

type Table = Readonly<Record<string, unknown>>;

/** How many lines of a kind there would be if none were suppressed; complete once the application is closed. */
export function linesOf({ lines }: LogRecorder, kind: LogKind): number {
  const suppressed = new RegExp(`suppressed (\\d+) similar \\[${kind}\\]`);
  let count = 0;
  for (const { text } of lines.filter((line) => line.text.includes(` [${kind}] `))) {
    const isAlone = text.includes(` [${kind}] suppressed `);
    count += Number(suppressed.exec(text)?.[1] ?? 0) + (isAlone ? 0 : 1);
  }
  return count;
}

/** No line is long, or has a control character; stacks are indented. */
export function expectHarmlessLines({ lines }: LogRecorder): void {
  for (const { text, rest } of lines) {
    expect(text.length).toBeLessThan(LONGEST_LINE);
    expect(text).not.toMatch(CONTROL);
    const stack = rest.length > 1 ? String(rest[0]) : '';
    expect(stack.length).toBeLessThan(LONGEST_STACK);
    expect(stack.replaceAll('\n', '')).not.toMatch(CONTROL);
    for (const line of stack.split('\n').slice(1)) expect(line).toMatch(/^ {4}/);
  }
}

/** What a message was republished without, beside what is never republished. */
export function leftOutOf({ delivery, republished }: Settlement): string[] {
  if (republished === undefined) return [];
  const { message } = delivery;
  const headers = ownHeaders(message.properties.headers ?? {});
  const properties = Object.keys(keptPropertiesOf(message));
  return [
    ...properties.filter((name) => !Object.hasOwn(republished.properties, name)),
    ...Object.keys(headers).filter((name) => !Object.hasOwn(republished.headers, name)),
  ];
}

/** A dead letter is the message that arrived first, with what it says of its end. */
export function expectDeadLetter(
  { content, properties }: GetMessage,
  first: Settlement,
  leftOut: readonly string[],
): void {
  const { message, queue } = first.delivery;
  expect(content.equals(message.content)).toBe(true);
  const isKept = ([name]: [string, unknown]): boolean => !leftOut.includes(name);
  const kept = Object.entries(keptPropertiesOf(message)).filter(isKept);
  expect(properties).toMatchObject(Object.fromEntries(kept));
  const headers: Table = properties.headers ?? {};
  const before = Object.entries(ownHeaders(message.properties.headers ?? {})).filter(isKept);
  for (const [name, value] of before) expect(comparable(headers[name])).toEqual(comparable(value));
  expect(headers).not.toHaveProperty('x-settle-attempt');
  expect(headers).not.toHaveProperty('x-settle-error-stack');
  expect(headers).toMatchObject({ 'x-settle-queue': queue, 'x-settle-exchange': '' });
  expect(headers['x-settle-routing-key']).toBe(queue);
  const bytesOf = (name: string): number => Buffer.byteLength(String(headers[name] ?? ''));
  expect(bytesOf('x-settle-error-name')).toBeLessThanOrEqual(HEADER_BOUNDS.name);
  expect(bytesOf('x-settle-error-message')).toBeLessThanOrEqual(HEADER_BOUNDS.message);
}

function ownHeaders(table: Table): Table {
  return Object.fromEntries(Object.entries(table).filter(([name]) => !isDroppedOnRepublish(name)));
}

// A zero has no sign once it has been written as an integer. As texts, buffers are compared a lot faster.
function comparable(value: unknown): unknown {
  if (value === 0) return 0;
  if (Buffer.isBuffer(value)) return value.toString('base64');
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([name, inner]) => [name, comparable(inner)]);
}
