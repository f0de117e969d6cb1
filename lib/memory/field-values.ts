import { ServerError } from './server-error';

/** RabbitMQ's names for the types of fields in a table. */
export type FieldType =
  | 'longstr'
  | 'bool'
  | 'byte'
  | 'unsignedbyte'
  | 'short'
  | 'unsignedshort'
  | 'signedint'
  | 'unsignedint'
  | 'long'
  | 'float'
  | 'double'
  | 'decimal'
  | 'timestamp'
  | 'table'
  | 'array'
  | 'binary'
  | 'void';

/** A value after its way over the wire, and how many bytes it takes there. */
export interface Transferred<T = unknown> {
  readonly value: T;
  readonly bytes: number;
}

/** What amqplib calls the types that are given explicitly, as `{ '!': type, value }`. */
const EXPLICIT: Readonly<Record<string, readonly [FieldType, bytes: number]>> = {
  byte: ['byte', 1],
  int8: ['byte', 1],
  unsignedbyte: ['unsignedbyte', 1],
  uint8: ['unsignedbyte', 1],
  short: ['short', 2],
  int16: ['short', 2],
  unsignedshort: ['unsignedshort', 2],
  uint16: ['unsignedshort', 2],
  int: ['signedint', 4],
  int32: ['signedint', 4],
  unsignedint: ['unsignedint', 4],
  uint32: ['unsignedint', 4],
  long: ['long', 8],
  int64: ['long', 8],
  float: ['float', 4],
  double: ['double', 8],
  float64: ['double', 8],
};

/** The type in which amqplib encodes a value of a table. */
export function fieldTypeOf(value: unknown): FieldType {
  if (value === null) return 'void';
  if (typeof value === 'string') return 'longstr';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return numberTypeOf(value);
  if (Array.isArray(value)) return 'array';
  if (Buffer.isBuffer(value)) return 'binary';
  const type = explicitTypeOf(value);
  if (type === 'timestamp' || type === 'decimal') return type;
  return EXPLICIT[type ?? '']?.[0] ?? 'table';
}

/**
 * A header table as whoever receives it decodes it; it shares nothing with the given one.
 * @throws TypeError or ServerError for a value that amqplib or RabbitMQ refuses.
 */
export function transferTable(table: object): Transferred<Record<string, unknown>> {
  const value: Record<string, unknown> = {};
  let bytes = 4;
  // Inherited properties, too: amqplib encodes them.
  for (const name in table) {
    const field: unknown = Reflect.get(table, name);
    if (field === undefined) continue;
    const transferred = transferField(field);
    bytes += 1 + requireShort(name) + transferred.bytes;
    // A key such as __proto__ is one like any other.
    Object.defineProperty(value, name, {
      value: transferred.value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return { value, bytes };
}

function transferField(value: unknown): Transferred {
  const { value: received, bytes } = transferValue(value);
  return { value: received, bytes: bytes + 1 };
}

function transferValue(value: unknown): Transferred {
  if (value === null) return { value, bytes: 0 };
  if (typeof value === 'boolean') return { value, bytes: 1 };
  if (typeof value === 'number') return transferNumber(value);
  if (typeof value === 'string') return transferText(value);
  if (typeof value !== 'object') throw unknownType(typeof value);
  if (Array.isArray(value)) return transferArray(value);
  if (Buffer.isBuffer(value)) return { value: Buffer.from(value), bytes: 4 + value.length };
  const type = explicitTypeOf(value);
  return type === undefined ? transferTable(value) : transferExplicit(type, valueIn(value));
}

// A text that is not well formed loses what UTF-8 can't express.
function transferText(value: string): Transferred {
  const encoded = Buffer.from(value);
  return { value: encoded.toString(), bytes: 4 + encoded.length };
}

function transferArray(values: readonly unknown[]): Transferred {
  const items = values.map(transferField);
  const bytes = items.reduce((sum, item) => sum + item.bytes, 4);
  return { value: items.map((item) => item.value), bytes };
}

function transferNumber(value: number): Transferred {
  // amqplib encodes it; the server does not survive it.
  if (value === Number.POSITIVE_INFINITY) throw new ServerError(541, '', 'BasicPublish');
  const type = numberTypeOf(value);
  if (type === 'long' && !(Math.abs(value) <= 2 ** 63)) {
    throw new TypeError('"value" argument is out of bounds');
  }
  return { value, bytes: EXPLICIT[type === 'signedint' ? 'int' : type]?.[1] ?? 8 };
}

function transferExplicit(type: string, value: unknown): Transferred {
  if (type === 'timestamp') return { value: { '!': type, value }, bytes: 8 };
  if (type === 'decimal') return { value: { '!': type, value }, bytes: 5 };
  if (['string', 'object', 'boolean', 'number'].includes(type)) return transferValue(value);
  const known = EXPLICIT[type];
  if (known === undefined) throw unknownType(type);
  return { value, bytes: known[1] };
}

// Whole numbers in the smallest type that holds them; from 2 ** 63 on in a double.
function numberTypeOf(value: number): FieldType {
  const isFraction = Math.abs(value) < 2 ** 50 && Math.floor(value) !== value;
  if (isFraction || value >= 2 ** 63) return 'double';
  if (value >= -128 && value < 128) return 'byte';
  if (value >= -32_768 && value < 32_768) return 'short';
  return value >= -(2 ** 31) && value < 2 ** 31 ? 'signedint' : 'long';
}

function explicitTypeOf(value: unknown): string | undefined {
  const isExplicit = typeof value === 'object' && value !== null && Object.hasOwn(value, '!');
  return isExplicit ? String(Reflect.get(value, '!')) : undefined;
}

function valueIn(value: object): unknown {
  return Reflect.get(value, 'value');
}

function requireShort(name: string): number {
  const bytes = Buffer.byteLength(name);
  if (bytes < 256) return bytes;
  throw new RangeError(
    `The value of "value" is out of range. It must be >= 0 and <= 255. Received ${bytes}`,
  );
}

function unknownType(type: string): TypeError {
  return new TypeError(`Unknown type to encode: ${type}`);
}
