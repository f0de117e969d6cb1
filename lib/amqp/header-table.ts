/** How deeply the tables and arrays of a header may be nested. */
const MOST_LEVELS = 100;
const LONGEST_NAME = 255;

/** A header in the form in which amqplib encodes it as it decoded it. */
export interface EncodableHeader {
  readonly name: string;
  readonly value: unknown;
  /** What the name and the value take in an encoded table. */
  readonly bytes: number;
}

interface Encodable {
  readonly value: unknown;
  readonly bytes: number;
}

/**
 * A header in a form that amqplib encodes as it decoded it; `undefined` if a header table cannot hold it.
 * amqplib's encoder walks inherited properties, takes an own property `!` for a type of its own, calls
 * `hasOwnProperty` of what it encodes, and writes a number that is not finite, or beyond 64 bits, as an
 * integer. RabbitMQ closes the connection over a number that is not finite. Never throws.
 */
export function encodableHeader(name: string, value: unknown): EncodableHeader | undefined {
  try {
    const encoded = encodable(value, 0);
    return { name, value: encoded.value, bytes: bytesOfName(name) + encoded.bytes };
  } catch {
    return undefined; // Also a getter or a proxy that throws.
  }
}

/** The size of a table with these headers, its length included, in bytes. */
export function bytesOfTable(headers: readonly EncodableHeader[]): number {
  return headers.reduce((sum, { bytes }) => sum + bytes, 4);
}

/**
 * The size of a table whose values are all texts, booleans and whole numbers below 2^31, which are encoded as
 * they are; `undefined` for any other table.
 */
export function bytesOfSimpleTable(table: Readonly<Record<string, unknown>>): number | undefined {
  let bytes = 4;
  for (const name of Object.keys(table)) {
    if (name.length * 3 > LONGEST_NAME) return undefined;
    const value = table[name];
    bytes += 1 + Buffer.byteLength(name);
    if (typeof value === 'string') bytes += 5 + Buffer.byteLength(value);
    else if (typeof value === 'boolean') bytes += 2;
    else if (typeof value === 'number' && isWhole(value, 2 ** 31 - 1)) bytes += 5;
    else return undefined;
  }
  return bytes;
}

/** Whether a header holds a decimal, which RabbitMQ cannot write to a stream. */
export function hasDecimal({ value }: EncodableHeader): boolean {
  return isDecimalInside(value);
}

/** What a value of {@link encodableHeader} is once it is delivered. */
export function decodedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decodedValue);
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  const type: unknown = Reflect.get(value, '!');
  const content: unknown = Reflect.get(value, 'value');
  if (type === 'double') return content;
  return type === 'object' ? decodedTable(content as Readonly<Record<string, unknown>>) : value;
}

/** What a table of {@link encodableHeader} values is once it is delivered. */
export function decodedTable(table: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const decoded: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(table)) decoded[name] = decodedValue(value);
  return decoded;
}

function encodable(value: unknown, level: number): Encodable {
  if (level > MOST_LEVELS) throw new RangeError('nested too deeply');
  if (typeof value === 'number') return encodableNumber(value);
  if (typeof value === 'string') return { value, bytes: 5 + Buffer.byteLength(value) };
  if (typeof value === 'boolean') return { value, bytes: 2 };
  if (value === null) return { value, bytes: 1 };
  if (Buffer.isBuffer(value)) return { value, bytes: 5 + value.length };
  if (Array.isArray(value)) return encodableArray(value, level);
  if (typeof value !== 'object') throw new TypeError(`no ${typeof value} in a table`);
  return Object.hasOwn(value, '!') && Object.hasOwn(value, 'value') && isTyped(value)
    ? { value, bytes: Reflect.get(value, '!') === 'decimal' ? 6 : 9 }
    : encodableTable(value as Readonly<Record<string, unknown>>, level);
}

function encodableNumber(value: number): Encodable {
  if (!Number.isFinite(value)) throw new RangeError('not finite');
  if (!Number.isInteger(value) || Math.abs(value) >= 2 ** 63) {
    return { value: typed('double', value), bytes: 9 };
  }
  if (value >= -(2 ** 7) && value < 2 ** 7) return { value, bytes: 2 };
  if (value >= -(2 ** 15) && value < 2 ** 15) return { value, bytes: 3 };
  return { value, bytes: value >= -(2 ** 31) && value < 2 ** 31 ? 5 : 9 };
}

function encodableArray(items: readonly unknown[], level: number): Encodable {
  const encoded = items.map((item) => encodable(item ?? null, level + 1));
  return {
    value: encoded.map(({ value }) => value),
    bytes: encoded.reduce((sum, { bytes }) => sum + bytes, 5),
  };
}

function encodableTable(table: Readonly<Record<string, unknown>>, level: number): Encodable {
  const value: Record<string, unknown> = Object.create(null);
  let bytes = 5;
  for (const [name, item] of Object.entries(table)) {
    if (item === undefined) continue;
    const encoded = encodable(item, level + 1);
    value[name] = encoded.value;
    bytes += bytesOfName(name) + encoded.bytes;
  }
  return { value: typed('object', value), bytes };
}

function bytesOfName(name: string): number {
  const bytes = Buffer.byteLength(name);
  if (bytes > LONGEST_NAME) throw new RangeError('the name is too long');
  return 1 + bytes;
}

function typed(type: string, value: unknown): object {
  return { '!': type, value };
}

// What amqplib's decoder makes of the wire's timestamps and decimals.
function isTyped(value: object): boolean {
  if (Object.keys(value).length !== 2) return false;
  const type: unknown = Reflect.get(value, '!');
  const content: unknown = Reflect.get(value, 'value');
  if (type === 'timestamp') return isWhole(content, 2 ** 64);
  return type === 'decimal' && isDecimal(content);
}

function isDecimal(content: unknown): boolean {
  if (typeof content !== 'object' || content === null) return false;
  const { places, digits } = content as { places?: unknown; digits?: unknown };
  return isWhole(places, 2 ** 8 - 1) && isWhole(digits, 2 ** 32 - 1);
}

/** Whether a value is a whole number from 0 to `most`. */
export function isWhole(value: unknown, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
}

function isDecimalInside(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isDecimalInside);
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return false;
  const type: unknown = Reflect.get(value, '!');
  if (type === 'decimal') return true;
  return type === 'object' && Object.values(Reflect.get(value, 'value')).some(isDecimalInside);
}
