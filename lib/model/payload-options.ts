import type { FailurePolicy } from './policy';
import type { PayloadSchema } from './schema';
import type { Size } from './size';

/**
 * How compressed bodies are decompressed.
 * @example { max: '16MiB' }
 * @publicApi
 */
export interface DecompressOptions {
  /** The most bytes that a body may have after decompression; a larger one is an invalid payload. */
  readonly max: Size;
}

/** The value of a header that a message can be selected by. */
export type HeaderValue = string | number | boolean;

/**
 * Which messages of a queue a method handles: those that meet every condition that is given.
 * @example { routingKey: 'order.paid.#' }
 * @publicApi
 */
export interface WhenOptions {
  /**
   * Patterns of routing keys as a topic exchange has them, one of which has to match: `*` is one word, `#` any
   * number of words. The key is that of the first publish, on every attempt.
   * @example ['order.paid', 'order.*.refunded']
   */
  readonly routingKey?: string | readonly string[];
  /**
   * The values of the property `type`, one of which the message has.
   * @example 'OrderPaid'
   */
  readonly type?: string | readonly string[];
  /**
   * Headers, each with the value or one of the values that it has.
   * @example { region: ['eu', 'uk'] }
   */
  readonly header?: Readonly<Record<string, HeaderValue | readonly HeaderValue[]>>;
}

/** The options that say which payloads a method takes, and in which form. */
export interface PayloadOptions<S extends PayloadSchema = PayloadSchema> {
  /**
   * What payloads have to match: a Standard Schema (Zod, Valibot, ArkType and others) or a class with
   * decorators of class-validator, which needs class-transformer, too. The first parameter of the method
   * receives what the schema gives, coerced and transformed; its type is checked against that. A payload
   * that does not match is an invalid payload, whose dead letter names paths and codes, never values. A
   * message that is republished carries its original bytes.
   * @default no check
   * @example z.object({ id: z.uuid(), amount: z.number().positive() })
   */
  readonly schema?: S;
  /**
   * Whether bodies with the content encoding `gzip`, `deflate` (the zlib format) or `br` are decompressed.
   * Larger than `max`, of several encodings, or broken, they are invalid payloads.
   * @default compressed bodies are invalid payloads, unless a deserializer reads them
   * @example { max: '16MiB' }
   */
  readonly decompress?: DecompressOptions;
  /**
   * Which messages of the queue the method handles. Several methods can share a queue if each has a `when`, one
   * of them excepted, which takes what no other matches. They have one consumer; the first method that
   * matches runs, in the order of the source. What belongs to the queue (its type and options, `prefetch`,
   * `noAck`, `declare`) is the same for all of them; `retry`, `deadLetter` and the policies are each method's
   * own, unless RabbitMQ performs them.
   * @default every message
   * @example { type: 'OrderPaid' }
   */
  readonly when?: WhenOptions;
  /**
   * What happens to a message that matches the `when` of no method of the queue. One of the methods sets it
   * for all. A dead letter has the reason `unmatched` and goes to the dead-letter queue of the first method
   * that has one.
   * @default 'drop'
   */
  readonly onUnmatched?: FailurePolicy;
}
