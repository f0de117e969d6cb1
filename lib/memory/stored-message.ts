/** Properties of a message, headers apart. */
export type MessageProperties = Readonly<Record<string, unknown>>;

/** A header table; its values are what AMQP's tables can hold. */
export type Table = Readonly<Record<string, unknown>>;

/** What is published: bytes, properties, and headers if there is a table at all. */
export interface PublishedMessage {
  readonly body: Buffer;
  readonly properties: MessageProperties;
  readonly headers: Table | undefined;
}

/** A message in one queue. */
export interface StoredMessage extends PublishedMessage {
  readonly exchange: string;
  readonly routingKey: string;
  /** Its place in the queue; a message that comes back takes it again. */
  readonly place: number;
  /** On the clock's monotonic scale; `undefined`: never. */
  readonly expiresAt: number | undefined;
  redelivered: boolean;
  /** Returns that the broker counts as failures. */
  deliveryCount: number;
  /** All returns. */
  acquiredCount: number;
}

/**
 * A copy of a header table that shares nothing with it.
 * @throws TypeError where a value is none that a table can hold, as amqplib does.
 */
export function copyOfTable(table: Table): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(table)) {
    if (value === undefined) continue;
    // A key such as __proto__ is one like any other.
    Object.defineProperty(copy, name, {
      value: copyOfValue(value),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy;
}

function copyOfValue(value: unknown): unknown {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
  if (Buffer.isBuffer(value)) return Buffer.from(value);
  if (Array.isArray(value))
    return value.map((item) => (item === undefined ? null : copyOfValue(item)));
  if (typeof value === 'object') return copyOfTable(value as Table);
  throw new TypeError(`Unsupported type in a header table: ${typeof value}`);
}
