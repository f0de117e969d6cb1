import { newHeaderTable } from '../delivery/headers';
import type { OutgoingMessage } from '../delivery/republish';
import {
  bytesOfSimpleTable,
  bytesOfTable,
  type EncodableHeader,
  encodableHeader,
  hasDecimal,
  isWhole,
} from './header-table';

/**
 * How much of a message is written:
 * - `whole`: all that can be encoded and fits;
 * - `plain`: without what some servers refuse for some queues, such as a decimal for a stream;
 * - `bare`: the body, the headers of this library, and the properties that describe the body.
 */
export type MessageForm = 'whole' | 'plain' | 'bare';

/** How much fits into the frame that carries a message's properties and headers, in bytes. */
export interface WriteLimits {
  /** The whole frame, as agreed with the server. */
  readonly frame: number;
  /** The encoded header table. */
  readonly headerTable: number;
}

/** What a message was published without; names of properties and of headers. */
export interface LeftOut {
  readonly properties: readonly string[];
  readonly headers: readonly string[];
}

/** A message that can be written, and what was left out of it, if anything. */
export interface WritableMessage {
  readonly message: OutgoingMessage;
  readonly leftOut: LeftOut | undefined;
}

/** Bytes of a content header frame beside properties and headers: the frame's own, class, size, flags. */
const FRAME_OVERHEAD = 22;
/** For the number that identifies a publish, which the transport adds. */
const RESERVED = 32;
const LONGEST_TEXT = 255;
/** Published as it is, it asks for a consumer on the very channel; RabbitMQ closes the channel. */
const DIRECT_REPLY_TO = 'amq.rabbitmq.reply-to';
/** Marks a body of AMQP 1.0 sections; RabbitMQ 4 cannot write one of this kind to a stream. */
const AMQP_1_0 = 'amqp-1.0';

const NUMBERS: Readonly<Record<string, readonly [most: number, bytes: number]>> = {
  deliveryMode: [255, 1],
  priority: [255, 1],
  timestamp: [2 ** 64, 8],
};
const BARE: ReadonlySet<string> = new Set([
  'contentType',
  'contentEncoding',
  'deliveryMode',
  'priority',
  'messageId',
]);

/**
 * A message in the form in which it can be written: without the properties and headers that cannot be
 * encoded, and with as many headers as fit, this library's own first, then the smallest. Pure; never
 * throws.
 */
export function writableMessage(
  { body, properties, headers }: OutgoingMessage,
  limits: WriteLimits,
  form: MessageForm,
): WritableMessage {
  const without: { properties: string[]; headers: string[] } = { properties: [], headers: [] };
  const kept: Record<string, unknown> = {};
  let bytes = FRAME_OVERHEAD;
  for (const name of Object.keys(properties)) {
    const value = properties[name];
    const size = bytesOfProperty(name, value, form);
    if (size === undefined) without.properties.push(name);
    else {
      kept[name] = name === 'deliveryMode' && form !== 'whole' && value !== 2 ? 1 : value;
      bytes += size;
    }
  }
  const room = Math.min(limits.frame - bytes, limits.headerTable) - RESERVED;
  const simple = form === 'whole' ? bytesOfSimpleTable(headers) : undefined;
  if (simple !== undefined && simple <= room) {
    const isComplete = without.properties.length === 0;
    return {
      message: { body, properties: kept, headers },
      leftOut: isComplete ? undefined : without,
    };
  }
  const table = writableHeaders(headers, without.headers, form);
  const fitting = bytesOfTable(table) <= room ? table : fittingOf(table, room, without.headers);
  const message = { body, properties: kept, headers: tableOf(fitting) };
  const isComplete = without.properties.length === 0 && without.headers.length === 0;
  return { message, leftOut: isComplete ? undefined : without };
}

function writableHeaders(
  headers: OutgoingMessage['headers'],
  without: string[],
  form: MessageForm,
): EncodableHeader[] {
  const table: EncodableHeader[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const header = encodableHeader(name, value);
    if (header !== undefined && isWritten(header, form)) table.push(header);
    else without.push(name);
  }
  return table;
}

function isWritten(header: EncodableHeader, form: MessageForm): boolean {
  if (form === 'whole' || isOwn(header)) return true;
  return form === 'plain' && !hasDecimal(header);
}

// Names of this library first, then the smallest; equal ones in the order in which they stood.
function fittingOf(
  table: readonly EncodableHeader[],
  room: number,
  without: string[],
): EncodableHeader[] {
  const sorted = [...table].sort(
    (one, other) => Number(isOwn(other)) - Number(isOwn(one)) || one.bytes - other.bytes,
  );
  const fitting: EncodableHeader[] = [];
  let bytes = bytesOfTable([]);
  for (const header of sorted) {
    if (bytes + header.bytes > room) without.push(header.name);
    else {
      bytes += header.bytes;
      fitting.push(header);
    }
  }
  return fitting;
}

function tableOf(headers: readonly EncodableHeader[]): Record<string, unknown> {
  const table = newHeaderTable();
  for (const { name, value } of headers) table[name] = value;
  return table;
}

function isOwn({ name }: EncodableHeader): boolean {
  return name.startsWith('x-settle-');
}

/** The encoded size of a property; `undefined` if it is not written. */
function bytesOfProperty(name: string, value: unknown, form: MessageForm): number | undefined {
  if (form === 'bare' && !BARE.has(name)) return undefined;
  if (name === 'replyTo' && value === DIRECT_REPLY_TO) return undefined;
  if (form === 'plain' && name === 'type' && value === AMQP_1_0) return undefined;
  const number = NUMBERS[name];
  if (number !== undefined) return isWhole(value, number[0]) ? number[1] : undefined;
  if (typeof value !== 'string') return undefined;
  const bytes = Buffer.byteLength(value);
  return bytes > LONGEST_TEXT ? undefined : 1 + bytes;
}
