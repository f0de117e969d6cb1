/**
 * The queue in which a message failed, and how it had got there.
 * @publicApi
 */
export interface DeadLetterOrigin {
  /** The queue to which it is replayed by default. */
  readonly queue: string;
  /** The exchange to which the message was first published; absent if no header tells it. */
  readonly exchange?: string | undefined;
  /** The routing key with which the message was first published; absent if no header tells it. */
  readonly routingKey?: string | undefined;
}

/**
 * A message in a dead-letter queue, as its headers describe it.
 * @publicApi
 */
export interface DeadLetter {
  /**
   * Identifies the message in its queue for as long as it stays there: a hash of the message, and a number
   * if the queue has several messages that do not differ in anything.
   */
  readonly id: string;
  /** The position in the queue when it was read, from 1. */
  readonly position: number;
  /** As its publisher has set it. */
  readonly messageId?: string | undefined;
  /**
   * A reason of this library (`attempts`, `drop`, `error`, `timeout`, `invalid-payload`, `panic`,
   * `republish-failed`), one of RabbitMQ (`rejected`, `expired`, `maxlen`, `delivery_limit`), or `unknown`.
   */
  readonly reason: string;
  /** Whether this library or RabbitMQ moved it, or somebody who left no trace. */
  readonly by: 'client' | 'broker' | 'unknown';
  /** The class of the error, at most 128 bytes. */
  readonly errorName?: string | undefined;
  /** The message of the error, at most 1 024 bytes. */
  readonly errorMessage?: string | undefined;
  /** The class and method: `Billing.charge`. */
  readonly handler?: string | undefined;
  /** Where it failed; absent if no header tells it. */
  readonly origin?: DeadLetterOrigin | undefined;
  /** When it was dead-lettered. */
  readonly failedAt?: Date | undefined;
  /** When its first attempt failed. */
  readonly firstFailedAt?: Date | undefined;
  /** The number of attempts. */
  readonly attempts?: number | undefined;
  /** How often it was replayed before. */
  readonly replays: number;
  /** When it was last replayed. */
  readonly replayedAt?: Date | undefined;
  /** How often it was returned to this queue, as far as RabbitMQ counts it. */
  readonly deliveryCount: number;
  /** As its publisher has set it. */
  readonly contentType?: string | undefined;
  /** The size of the body in bytes. */
  readonly size: number;
}

/**
 * One event in the life of a dead letter.
 * @publicApi
 */
export interface DeadLetterEvent {
  /** `failed`: its first attempt; `dead-lettered`: by this library; `moved`: by RabbitMQ; `replayed`. */
  readonly kind: 'failed' | 'dead-lettered' | 'moved' | 'replayed';
  /** When; absent if no header tells it. */
  readonly at?: Date | undefined;
  /** The queue in which it happened. */
  readonly queue?: string | undefined;
  /** Why it was dead-lettered or moved. */
  readonly reason?: string | undefined;
  /** How often it happened; `at` is then the first time, of a replay the last. */
  readonly count: number;
}

/**
 * A dead letter with its body.
 * @publicApi
 */
export interface DeadLetterDetails extends DeadLetter {
  /** The body, at most `maxBody` bytes of it. */
  readonly body: Buffer;
  /** Whether `body` is only the beginning. */
  readonly isTruncated: boolean;
  /** As RabbitMQ delivers them, its own included. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The properties of the message, without its headers. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** What happened to it, in order, as far as its headers tell. */
  readonly history: readonly DeadLetterEvent[];
}
