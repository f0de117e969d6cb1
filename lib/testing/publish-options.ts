import { transferTable } from '../memory/field-values';
import { ServerError } from '../memory/server-error';

/** What amqplib sends of a message besides its body. */
export interface SentProperties {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
}

const TEXTS = [
  'contentType',
  'contentEncoding',
  'correlationId',
  'replyTo',
  'expiration',
  'messageId',
  'type',
  'userId',
  'appId',
] as const;
const NUMBERS = ['deliveryMode', 'priority', 'timestamp'] as const;
const LONGEST_SHORT_TEXT = 255;
/** The buffer in which amqplib encodes a header table, in bytes. */
const LARGEST_TABLE = 65_536;

/**
 * What amqplib makes of publish options.
 * @throws TypeError, RangeError as amqplib does; ServerError 541 for headers that it encodes so that the
 * server closes the connection.
 */
export function sentPropertiesOf(options: Readonly<Record<string, unknown>>): SentProperties {
  const fields: Readonly<Record<string, unknown>> = {
    ...options,
    deliveryMode: deliveryModeOf(options),
    ...(options['expiration'] !== undefined && { expiration: String(options['expiration']) }),
  };
  const headers = headersOf(options);
  const properties: Record<string, unknown> = {};
  for (const name of TEXTS) {
    const value = fields[name];
    if (value !== undefined && value !== null) properties[name] = requireText(name, value);
  }
  for (const name of NUMBERS) {
    const value = fields[name];
    if (value !== undefined && value !== null) properties[name] = requireNumber(name, value);
  }
  return { properties, headers };
}

/**
 * A text in the encoding that amqplib writes it in.
 * @throws TypeError for anything else, or a text of more than 255 bytes.
 */
export function requireText(name: string, value: unknown): string {
  if (typeof value === 'string' && Buffer.byteLength(value) <= LONGEST_SHORT_TEXT) {
    return Buffer.from(value).toString();
  }
  throw new TypeError(
    `Field '${name}' is the wrong type; must be a string (up to ${LONGEST_SHORT_TEXT} chars)`,
  );
}

function requireNumber(name: string, value: unknown): number {
  if (typeof value !== 'number' || Number.isNaN(value)) {
    throw new TypeError(`Field '${name}' is the wrong type; must be a number (but not NaN)`);
  }
  if (name === 'timestamp') {
    if (Number.isInteger(value) && value >= 0) return value;
    throw new TypeError('"value" argument is out of bounds');
  }
  if (value >= 0 && value <= 255) return Math.floor(value);
  throw new RangeError(
    `The value of "value" is out of range. It must be >= 0 and <= 255. Received ${value}`,
  );
}

function deliveryModeOf({ persistent, deliveryMode }: Readonly<Record<string, unknown>>): unknown {
  if (persistent !== undefined) return persistent ? 2 : 1;
  if (typeof deliveryMode === 'number') return deliveryMode;
  return deliveryMode ? 2 : undefined;
}

function headersOf(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { headers, CC, BCC } = options;
  const given = headers || null;
  if (given !== null && typeof given !== 'object') {
    throw new TypeError(`Object prototype may only be an Object or null: ${given}`);
  }
  const table: Record<string, unknown> = Object.create(given);
  if (CC !== undefined) table['CC'] = [CC].flat().map(String);
  if (BCC !== undefined) table['BCC'] = [BCC].flat().map(String);
  const { value, bytes } = transferTable(table);
  if (bytes > LARGEST_TABLE) throw new ServerError(541, '', 'BasicPublish');
  return value;
}
