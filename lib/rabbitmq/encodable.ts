/**
 * Headers in a form that amqplib encodes as it decoded them. Its encoder walks inherited properties,
 * takes an own property `!` for a type of its own, calls `hasOwnProperty` of what it encodes, and
 * writes a number that is not finite, or beyond 64 bits, as an integer.
 */
export function encodableHeaders(
  headers: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const table: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(headers)) {
    const encoded = encodable(value);
    if (encoded !== undefined) table[name] = encoded;
  }
  return table;
}

function encodable(value: unknown): unknown {
  if (typeof value === 'number') return isInteger64(value) ? value : typed('double', value);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (value === null || Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) return value.map((item) => encodable(item) ?? null);
  if (typeof value !== 'object') return undefined;
  return isTyped(value)
    ? value
    : typed('object', encodableHeaders(value as Record<string, unknown>));
}

function isInteger64(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

function typed(type: string, value: unknown): object {
  return { '!': type, value };
}

// What amqplib's decoder makes of the wire's timestamps and decimals.
function isTyped(value: object): boolean {
  if (!Object.hasOwn(value, '!') || Object.keys(value).length !== 2) return false;
  const type: unknown = Reflect.get(value, '!');
  return Object.hasOwn(value, 'value') && (type === 'timestamp' || type === 'decimal');
}
