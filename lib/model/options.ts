import type { MessageHandlerOptions, QueueOptions } from '@golevelup/nestjs-rabbitmq';
import type { Backoff } from './backoff';
import type { Duration } from './duration';
import type { ErrorRule, FailurePolicy } from './policy';

/** The options that mean what they mean in `@RabbitSubscribe`. */
export type SharedOptions = Pick<
  MessageHandlerOptions,
  | 'name'
  | 'connection'
  | 'exchange'
  | 'routingKey'
  | 'bindings'
  | 'queue'
  | 'queueOptions'
  | 'createQueueIfNotExists'
  | 'deserializer'
  | 'allowNonJsonMessages'
>;

/** Classic queues do not count redeliveries, quorum queues do. */
export type QueueType = 'classic' | 'quorum';

/** Who counts and delays, or who moves: the runtime, by copies, or the broker, by its own means. */
export type PerformedBy = 'client' | 'broker';

/** A retry declaration. */
export interface RetryOptions {
  /** How often a message may be handed to the subscription in all, 1 to 10 000; 1 means no retry. */
  readonly attempts: number;
  /** The delay of a `retryAfter()` without one; default: exponential from 1 s to 5 min. */
  readonly backoff?: Backoff;
  /**
   * Who delays the subscription's own backoff; default `'client'`. `'broker'` needs a quorum queue, a
   * linear backoff and a server of 4.3 or later.
   */
  readonly by?: PerformedBy;
  /**
   * How often a message may be handed out in a row without a copy, what costs no attempt included:
   * released deliveries, and acknowledgements that took too long. Above it a message is taken for
   * poison, as at the cap. From `attempts` on; default 1 000, or 10 times the attempts where that is
   * more. Quorum queues from RabbitMQ 4.3 on tell it (`x-acquired-count`); elsewhere it has no effect.
   */
  readonly maxDeliveries?: number;
}

/** Where a message goes that is dropped or has used up its attempts. */
export interface DeadLetterOptions {
  /** The dead-letter queue. */
  readonly queue: string;
  /**
   * Who moves the message; default `'client'`: a confirmed copy with diagnostics. `'broker'` declares
   * the queue's own dead-letter route, and on a quorum queue the delivery limit.
   */
  readonly by?: PerformedBy;
  /** Whether the dead letter carries the error's stack, at most 4 096 bytes; default false. */
  readonly stack?: boolean;
  /** Options of the dead-letter queue, where it has to be declared; default durable. */
  readonly queueOptions?: QueueOptions;
}

/** What the module declares on the broker; what it does not declare is checked where it can be. */
export interface DeclareOptions {
  readonly queue?: boolean;
  readonly waiting?: boolean;
  readonly deadLetter?: boolean;
}

/**
 * The options of one subscription. Those that `@RabbitSubscribe` has mean the same here.
 * @publicApi
 */
export interface SubscribeOptions extends SharedOptions {
  /** Default `'classic'`, or what `queueOptions.arguments['x-queue-type']` says. */
  readonly queueType?: QueueType;
  /**
   * Handlers at once, 1 to 65 535. Default: the prefetch count of `queueOptions.channel`, else that of
   * the connection, else 10.
   */
  readonly prefetch?: number;
  /** Without it nothing is counted, and a `retry()` goes back to the queue without end. */
  readonly retry?: RetryOptions;
  /** The name of a queue, or more about it. Without it a dropped message is rejected. */
  readonly deadLetter?: string | DeadLetterOptions;
  /** How long decoding and the handler may take together; default: no limit. */
  readonly timeout?: Duration;
  /** Default `'drop'`. Rules in order, the first match speaks; a bare policy at the end is the default. */
  readonly onError?: FailurePolicy | readonly (ErrorRule | FailurePolicy)[];
  /** Default `'failFast'`. */
  readonly onPanic?: FailurePolicy;
  /** Default `'drop'`. */
  readonly onInvalidPayload?: FailurePolicy;
  /** Default false. With it nothing is ever settled: the broker forgets a message as it sends it. */
  readonly noAck?: boolean;
  /** Default true. */
  readonly declare?: boolean | DeclareOptions;
}

/**
 * What holds for every subscription that does not say otherwise. `deadLetter` may be a function of
 * the queue's name; it is not asked for `noAck` subscriptions and queues named by the server.
 * @publicApi
 */
export type SubscribeDefaults = Pick<
  SubscribeOptions,
  | 'queueType'
  | 'prefetch'
  | 'retry'
  | 'timeout'
  | 'onError'
  | 'onPanic'
  | 'onInvalidPayload'
  | 'declare'
  | 'deserializer'
  | 'allowNonJsonMessages'
> & {
  readonly deadLetter?: ((queue: string) => string | DeadLetterOptions | undefined) | undefined;
};
