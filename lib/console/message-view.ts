import type { DeadLetterDetails } from '../dead-letters/dead-letter';
import { indented, isJson } from '../dead-letters/indented-json';

const BYTES_PER_LINE = 16;

/** How the body of a message is shown. */
export interface BodyView {
  readonly kind: 'json' | 'text' | 'binary' | 'empty';
  readonly text: string;
  readonly isTruncated: boolean;
}

/** A message as the page shows it; without `showPayload` it has no body and no headers of the application. */
export interface MessageView {
  readonly letter: Omit<DeadLetterDetails, 'body' | 'isTruncated' | 'headers' | 'properties'>;
  readonly body: BodyView | undefined;
  readonly headers: readonly (readonly [name: string, text: string])[];
  readonly hiddenHeaders: number;
  readonly properties: readonly (readonly [name: string, text: string])[];
}

/** What of a message may be shown, as texts. */
export function messageViewOf(details: DeadLetterDetails, showPayload: boolean): MessageView {
  const { body, isTruncated, headers, properties, ...letter } = details;
  const entries = Object.entries(headers);
  const shown = entries.filter(([name]) => showPayload || isTechnical(name));
  return {
    letter,
    body: showPayload ? bodyViewOf(body, isTruncated) : undefined,
    headers: shown.map(([name, value]) => [name, textOf(value)]),
    hiddenHeaders: entries.length - shown.length,
    properties: Object.entries(properties)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, textOf(value)]),
  };
}

/** Whether a header was written by this library or by RabbitMQ. */
function isTechnical(name: string): boolean {
  return /^x-(settle-|death$|first-death-|last-death-|delivery-count$|acquired-count$)/.test(name);
}

function bodyViewOf(body: Buffer, isTruncated: boolean): BodyView {
  if (body.length === 0) return { kind: 'empty', text: '', isTruncated };
  const text = decoded(body, isTruncated);
  if (text === undefined) return { kind: 'binary', text: hexDump(body), isTruncated };
  if (isTruncated || !isJson(text)) return { kind: 'text', text, isTruncated };
  return { kind: 'json', text: indented(text), isTruncated };
}

// A body that was cut can end in the middle of a character.
function decoded(body: Buffer, isTruncated: boolean): string | undefined {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const text = decoder.decode(body, { stream: isTruncated });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these tell a binary body.
    return /[\u0000-\u0008\u000e-\u001a]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Offset, bytes and printable characters, 16 bytes in a line. */
export function hexDump(body: Buffer): string {
  const lines: string[] = [];
  for (let offset = 0; offset < body.length; offset += BYTES_PER_LINE) {
    const bytes = [...body.subarray(offset, offset + BYTES_PER_LINE)];
    const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const printable = bytes.map((byte) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.',
    );
    const width = BYTES_PER_LINE * 3 - 1;
    const at = offset.toString(16).padStart(6, '0');
    lines.push(`${at}  ${hex.padEnd(width)}  ${printable.join('')}`);
  }
  return lines.join('\n');
}

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    const bytesAsHex = (_: string, part: unknown): unknown => (isBytes(part) ? hexOf(part) : part);
    return indented(JSON.stringify(value, bytesAsHex));
  } catch {
    return '…'; // Tables in tables, thousands of times.
  }
}

// JSON.stringify calls the method toJSON of a Buffer first.
function isBytes(value: unknown): value is { data: number[] } {
  return (
    typeof value === 'object' &&
    value !== null &&
    Reflect.get(value, 'type') === 'Buffer' &&
    Array.isArray(Reflect.get(value, 'data'))
  );
}

function hexOf({ data }: { data: number[] }): string {
  return `0x${Buffer.from(data).toString('hex')}`;
}
