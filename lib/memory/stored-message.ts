/** The properties of a message, without its headers. */
export type MessageProperties = Readonly<Record<string, unknown>>;

/** A table: headers, or the arguments of a declaration. */
export type Table = Readonly<Record<string, unknown>>;

/** Why a broker dead-letters a message. */
export type DeathReason = 'rejected' | 'expired' | 'maxlen' | 'delivery_limit';

/**
 * How a message returns to its queue: requeued after a failed attempt, requeued without one, because its
 * channel closed, or because its acknowledgement took too long.
 */
export type ReturnKind = 'requeueFailed' | 'requeueUnprocessed' | 'channelClosed' | 'overdue';

/** One entry of the header `x-death`. */
export interface Death {
  readonly count: number;
  readonly reason: DeathReason;
  readonly queue: string;
  readonly time: { readonly '!': 'timestamp'; readonly value: number };
  readonly exchange: string;
  readonly 'routing-keys': readonly string[];
  readonly 'original-expiration'?: string;
}

/** A message as it is published: its body, its properties, and its headers if it has any table. */
export interface PublishedMessage {
  readonly body: Buffer;
  readonly properties: MessageProperties;
  readonly headers: Table | undefined;
  /** How often and why the broker has dead-lettered it; `undefined` for what a client publishes. */
  readonly deaths?: readonly Death[];
}

/** A message in a queue. */
export interface StoredMessage extends PublishedMessage {
  readonly exchange: string;
  readonly routingKey: string;
  /** The same for all messages of a queue without priorities. */
  readonly priority: number;
  /** What it adds to the length of the queue in bytes. */
  readonly bytes: number;
  /** Its position in the queue. */
  place: number;
  /** On the clock's monotonic scale; `undefined`: never. */
  readonly expiresAt: number | undefined;
  redelivered: boolean;
  /** How often it returned after a failed attempt. */
  deliveryCount: number;
  /** How often it returned. */
  acquiredCount: number;
}

/** What a queue decides about a message that it stores. */
export interface StorageRules {
  readonly ttl: number;
  priorityOf(given: unknown): number;
  bytesOf(message: PublishedMessage): number;
}

/** A message as a queue stores it; the queue sets its place. */
export function storedMessage(
  message: PublishedMessage,
  address: Pick<StoredMessage, 'exchange' | 'routingKey'>,
  { ttl, priorityOf, bytesOf }: StorageRules,
  now: number,
): StoredMessage {
  const { expiration, priority } = message.properties;
  const timeToLive = Math.min(expiration === undefined ? ttl : Number(expiration), ttl);
  return {
    ...message,
    ...address,
    priority: priorityOf(priority),
    bytes: bytesOf(message),
    place: 0,
    expiresAt: Number.isFinite(timeToLive) ? now + timeToLive : undefined,
    redelivered: false,
    deliveryCount: 0,
    acquiredCount: 0,
  };
}

/** A copy of a table that shares nothing with it. */
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
  if (Buffer.isBuffer(value)) return Buffer.from(value);
  if (Array.isArray(value)) return value.map(copyOfValue);
  return typeof value === 'object' && value !== null ? copyOfTable(value as Table) : value;
}
