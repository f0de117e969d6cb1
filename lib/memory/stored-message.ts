/** Properties of a message, headers apart. */
export type MessageProperties = Readonly<Record<string, unknown>>;

/** A header table; its values are what AMQP's tables can hold. */
export type Table = Readonly<Record<string, unknown>>;

/** Why a broker moves a message out of a queue. */
export type DeathReason = 'rejected' | 'expired' | 'maxlen' | 'delivery_limit';

/** How a message comes back: refused, given back untried, or by the loss of its channel. */
export type ReturnKind = 'requeueFailed' | 'requeueUnprocessed' | 'lost';

/** One entry of a message's history of dead-lettering, as its header `x-death` shows it. */
export interface Death {
  readonly count: number;
  readonly reason: DeathReason;
  readonly queue: string;
  readonly time: { readonly '!': 'timestamp'; readonly value: number };
  readonly exchange: string;
  readonly 'routing-keys': readonly string[];
  readonly 'original-expiration'?: string;
}

/** What is published: bytes, properties, and headers if there is a table at all. */
export interface PublishedMessage {
  readonly body: Buffer;
  readonly properties: MessageProperties;
  readonly headers: Table | undefined;
  /** What the broker itself has done with it; `undefined` where a client publishes. */
  readonly deaths?: readonly Death[];
}

/** A message in one queue. */
export interface StoredMessage extends PublishedMessage {
  readonly exchange: string;
  readonly routingKey: string;
  /** The same for all but in a queue with priorities. */
  readonly priority: number;
  /** Its place in the queue, given by it; on a classic queue a message that comes back takes it again. */
  place: number;
  /** On the clock's monotonic scale; `undefined`: never. */
  readonly expiresAt: number | undefined;
  redelivered: boolean;
  /** Returns that the broker counts as failures. */
  deliveryCount: number;
  /** All returns. */
  acquiredCount: number;
}

/** A message as a queue takes it in; the queue gives it its place. */
export function storedMessage(
  message: PublishedMessage,
  address: Pick<StoredMessage, 'exchange' | 'routingKey'>,
  { ttl, priorityOf }: { readonly ttl: number; priorityOf(given: unknown): number },
  now: number,
): StoredMessage {
  const { expiration, priority } = message.properties;
  const lives = Math.min(expiration === undefined ? ttl : Number(expiration), ttl);
  return {
    ...message,
    ...address,
    priority: priorityOf(priority),
    place: 0,
    expiresAt: Number.isFinite(lives) ? now + lives : undefined,
    redelivered: false,
    deliveryCount: 0,
    acquiredCount: 0,
  };
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
