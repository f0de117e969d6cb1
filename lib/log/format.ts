import { inspect, types } from 'node:util';
import { classNameOf, thrownMessage, thrownName, thrownStack } from './thrown';

const LONGEST_VALUE = 120;
const LONGEST_ERROR = 300;
const LONGEST_ID = 100;
const LONGEST_LIST = 10;
const LONGEST_OBJECT = 50;
const LONGEST_HEADER = 1_000;

/** A value as a part of a line: one line, shortened, never throws. */
export function found(value: unknown): string {
  if (isLarge(value)) return shortened(thrownMessage(value), LONGEST_VALUE);
  try {
    const options = { depth: 0, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 60 };
    return shortened(
      types.isNativeError(value) ? errorText(value) : inspect(value, options),
      LONGEST_VALUE,
    );
  } catch {
    return 'a value that cannot be inspected';
  }
}

/** What a value is, without what is in it, which can be a payload: `an object`, `an instance of Order`. Never throws. */
export function shapeOf(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  const name = classNameOf(value);
  return name === undefined ? 'an object' : `an instance of ${shortened(name, LONGEST_ID)}`;
}

// inspect() formats every key of an object, and only then can the text be cut.
function isLarge(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return false;
  try {
    return Object.keys(value).length > LONGEST_OBJECT && !Array.isArray(value);
  } catch {
    return false; // A proxy whose traps throw.
  }
}

/**
 * What was thrown as its class and its message, each once: `BankTimeout: no answer`; of a plain object its
 * properties. Never throws.
 */
export function errorText(error: unknown): string {
  const message = shortened(thrownMessage(error), LONGEST_ERROR);
  if (typeof error !== 'object' || error === null) return message;
  const name = shortened(thrownName(error), LONGEST_VALUE);
  if (name === 'object') return message;
  return message === '' ? name : shortened(`${name}: ${message}`, LONGEST_ERROR);
}

/** What an error says, without the name of a class that says nothing more. Never throws. */
export function reasonText(error: unknown): string {
  return errorText(error).replace(/^(?:Error|RepublishError): /, '');
}

/**
 * The stack of an error for a log: control characters are escaped, and every line but the first is indented,
 * so that no text of a message can look like a line of the log.
 */
export function stackText(error: unknown): string | undefined {
  const stack = thrownStack(error);
  if (stack === undefined) return undefined;
  const lines = stack.frames.split('\n').filter((line) => line.trim() !== '');
  const frames = lines.map((line) => (line.startsWith('    ') ? line : `    ${line}`));
  const header = stack.header.slice(0, LONGEST_HEADER);
  return [header, ...frames].map((line) => escaped(line)).join('\n');
}

// Cut before anything looks for white space in it: the text can come from a message.
function shortened(text: string, length: number): string {
  const line = text.slice(0, 4 * length).replace(/\s+/g, ' ');
  return line.length > length ? `${line.slice(0, length - 3)}...` : line;
}

/** `"name"` with a blank before it; empty for an unnamed function. */
export function named(name: string): string {
  return name === '' ? '' : ` "${name}"`;
}

/** A queue as log lines name it. */
export function queueText(queue: string | undefined): string {
  return queue === undefined ? 'server-named queue' : `queue "${queue}"`;
}

/** What a log line says of a delivered message. */
export interface MessageFacts {
  readonly messageId?: string | undefined;
  readonly queue: string;
  readonly attempt: number;
  readonly subscription: { readonly retry?: { readonly attempts: number } | undefined };
}

/** `message "id" (queue "q", attempt 1 of 3)`. */
export function messageText({ messageId, queue, attempt, subscription }: MessageFacts): string {
  const { retry } = subscription;
  const of = retry === undefined ? '' : ` of ${retry.attempts}`;
  return `${idText(messageId)} (queue "${queue}", attempt ${attempt}${of})`;
}

/** `message "id"`, or `message without messageId`. */
export function idText(messageId: unknown): string {
  return typeof messageId === 'string'
    ? `message "${messageId.slice(0, LONGEST_ID)}"`
    : 'message without messageId';
}

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
];

/** A span in ms as people write it: `250ms`, `1.5s`, `4m16s`, `1d`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  let left = Math.round(ms);
  let text = '';
  for (const [unit, factor] of UNITS) {
    const count = Math.floor(left / factor);
    if (count > 0) text += `${count}${unit}`;
    left %= factor;
  }
  return left === 0 ? text : `${text}${left / 1_000}s`;
}

/** A span in ms without fractions of a second, for lines about how long something has taken. */
export function roughDurationText(ms: number): string {
  return durationText(ms < 10_000 ? Math.round(ms / 100) * 100 : Math.round(ms / 1_000) * 1_000);
}

/** `1 message`, `2 messages`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `A, B and 3 more`. */
export function listed(names: readonly string[]): string {
  const left = names.length - LONGEST_LIST;
  const shown = names.slice(0, LONGEST_LIST).join(', ');
  return left > 0 ? `${shown} and ${left} more` : shown;
}

/**
 * A text whose control characters are escaped, so that nothing that comes from a message can start a
 * line of its own or drive a terminal.
 */
export function escaped(text: string): string {
  return text.replace(
    CONTROL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

// Also the separators that some terminals and log viewers take for line breaks, and those that
// change the direction of a text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
