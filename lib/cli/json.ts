import { errorText } from '../log/format';

/** A result as JSON: dates in ISO 8601, bytes in base64, errors as texts. */
export function jsonOf(value: unknown): string {
  return `${JSON.stringify(plain(value), undefined, 2)}\n`;
}

function plain(value: unknown): unknown {
  if (value instanceof Error) return errorText(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof Date || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}
