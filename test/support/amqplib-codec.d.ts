declare module 'amqplib/lib/codec' {
  /** Writes a table to a buffer at an offset; returns how many bytes it took. */
  export function encodeTable(buffer: Buffer, table: object, offset: number): number;
  /** The table in these bytes, its length not included. */
  export function decodeFields(bytes: Buffer): Record<string, unknown>;
}
