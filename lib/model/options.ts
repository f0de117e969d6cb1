import type { MessageHandlerOptions, QueueOptions } from '@golevelup/nestjs-rabbitmq';
import type { Backoff } from './backoff';
import type { ConsumerOptions } from './consumer-options';
import type { Duration } from './duration';
import type { KillSwitchOptions } from './kill-switch-options';
import type { PayloadOptions } from './payload-options';
import type { ErrorRule, FailurePolicy } from './policy';
import type { PayloadSchema } from './schema';

/** The options that mean the same as in golevelup's `@RabbitSubscribe`. */
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

/** Quorum queues count redeliveries, classic queues do not. */
export type QueueType = 'classic' | 'quorum';

/** Whether this library does it, by republishing, or RabbitMQ, natively. */
export type PerformedBy = 'client' | 'broker';

/**
 * How often and when a message is retried.
 * @example { attempts: 5, backoff: exponential('1s', { max: '5m' }) }
 */
export interface RetryOptions {
  /** How often a message is attempted in all, 1 to 10 000; 1 means no retry. */
  readonly attempts: number;
  /**
   * How long a message is retried, from its first failure on: no retry begins later. A message whose next
   * retry would is dead-lettered with the reason `max-age`, or rejected without `deadLetter`. So that the
   * time of the first failure is known, the first retry and the first `pauseFor()` are republished on all
   * queues. Not with `by: 'broker'`.
   * @default no limit
   * @example '1d'
   */
  readonly maxAge?: Duration;
  /**
   * The delay of `retryAfter()` without one of its own, and of the policy `'retryAfter'`.
   * @default exponential('1s', { max: '5m' })
   */
  readonly backoff?: Backoff;
  /**
   * Who delays retries that take the backoff. `'broker'` needs a quorum queue, `linear()` without jitter
   * and RabbitMQ 4.3 or later.
   * @default 'client'
   */
  readonly by?: PerformedBy;
  /**
   * How often RabbitMQ may deliver a message without it being republished, deliveries that cost no
   * attempt included: those that were requeued unprocessed, or not acknowledged in time. Beyond it the
   * message is dead-lettered as a poison message; without `deadLetter` a line reports it and it is handled
   * again. At least `attempts`. Only quorum queues of RabbitMQ 4.3 and later report the count
   * (`x-acquired-count`); elsewhere it has no effect, except on quorum queues with `order`.
   * @default 1000, or 10 times `attempts` if that is more
   */
  readonly maxDeliveries?: number;
}

/**
 * Where a message goes that is dropped or has used up its attempts.
 * @example { queue: 'billing.dead', stack: true }
 */
export interface DeadLetterOptions {
  /** The name of the dead-letter queue. */
  readonly queue: string;
  /**
   * Who moves the message. `'client'` publishes it with the reason and the error in its headers;
   * `'broker'` declares the dead-letter exchange of the queue, and on a quorum queue its delivery limit.
   * @default 'client'
   */
  readonly by?: PerformedBy;
  /**
   * Whether the dead letter carries the error's stack, at most 4 096 bytes.
   * @default false
   */
  readonly stack?: boolean;
  /**
   * Options of the dead-letter queue, if it has to be declared.
   * @default { durable: true }
   */
  readonly queueOptions?: QueueOptions;
}

/** What is declared on the broker at startup; what is not declared is checked. */
export interface DeclareOptions {
  /**
   * The queue. Its bindings are declared unless `declare` is false as a whole.
   * @default true
   */
  readonly queue?: boolean;
  /**
   * The queues in which delayed retries wait.
   * @default true
   */
  readonly waiting?: boolean;
  /**
   * The dead-letter queue.
   * @default true
   */
  readonly deadLetter?: boolean;
}

/** What happens when a handler fails: a policy, or rules in order with an optional policy at the end. */
export type OnError =
  | FailurePolicy
  | readonly [ErrorRule, ...ErrorRule[]]
  | readonly [...ErrorRule[], FailurePolicy];

/** The options that every subscription has. */
export interface CommonSubscribeOptions<S extends PayloadSchema = PayloadSchema>
  extends SharedOptions,
    PayloadOptions<S>,
    ConsumerOptions {
  /**
   * The type of the queue.
   * @default 'classic', or queueOptions.arguments['x-queue-type']
   */
  readonly queueType?: QueueType;
  /**
   * How many messages are handled at once, 1 to 65 535.
   * @default the prefetch count of `queueOptions.channel`, else of the connection, else 10
   */
  readonly prefetch?: number;
  /**
   * How long decoding and the handler may take together.
   * @default no limit
   * @example '30s'
   */
  readonly timeout?: Duration;
  /**
   * What happens when the handler throws or exceeds its timeout. The first rule that matches applies; a
   * policy at the end applies to all other errors.
   * @default 'drop'
   * @example [on(BankTimeout, 'retryAfter'), 'drop']
   */
  readonly onError?: OnError;
  /**
   * What happens when the handler, or a guard, pipe, interceptor or filter around it, has a bug, such as a
   * TypeError.
   * @default 'failFast'
   */
  readonly onPanic?: FailurePolicy;
  /**
   * What happens to a message that cannot be decoded, does not match `schema`, or is refused by a pipe.
   * @default 'drop'
   */
  readonly onInvalidPayload?: FailurePolicy;
  /**
   * What is declared on the broker at startup.
   * @default true
   */
  readonly declare?: boolean | DeclareOptions;
}

/** The options of a subscription whose messages are acknowledged. */
export interface AcknowledgedOptions {
  readonly noAck?: false;
  /** Without it a message that is retried can be redelivered for ever. */
  readonly retry?: RetryOptions;
  /**
   * The dead-letter queue: its name, or more about it. Without it a dropped message is rejected. What
   * RabbitMQ itself moves, such as expired messages, goes to the dead-letter exchange of the queue, if it has
   * one.
   * @example 'billing.dead'
   */
  readonly deadLetter?: string | DeadLetterOptions;
  /**
   * Pauses the subscription when too many of its messages fail, so that they stay in the queue. `{}` takes the
   * defaults; `false` switches one of the module off. Counted in this process. An error or a timeout counts if
   * `on` matches it; what a handler returns or throws as an outcome, bugs and invalid payloads do not. While it
   * is tripped, messages whose handlers are still running and fail go back without an attempt. After the pause
   * one message is tried: if it succeeds, the subscription consumes as before, else it pauses for twice as long.
   * @default no kill switch
   * @example { failures: 0.5, minimum: 10, window: '1m', pause: '30s', max: '10m' }
   */
  readonly killSwitch?: KillSwitchOptions | false;
}

/** The options of a subscription whose messages RabbitMQ removes as it delivers them. */
export interface NoAckOptions {
  /**
   * Whether RabbitMQ removes a message as it delivers it; it is then lost if its handler fails.
   * @default false
   */
  readonly noAck: true;
  readonly retry?: never;
  readonly deadLetter?: never;
  readonly killSwitch?: never;
}

/**
 * The options of one subscription.
 * @example
 * {
 *   exchange: 'orders',
 *   routingKey: 'order.paid',
 *   queue: 'billing',
 *   queueType: 'quorum',
 *   retry: { attempts: 5, backoff: exponential('1s', { max: '5m' }) },
 *   deadLetter: 'billing.dead',
 *   onError: [on(BankTimeout, 'retryAfter'), 'drop'],
 * }
 * @publicApi
 */
export type SubscribeOptions<S extends PayloadSchema = PayloadSchema> = CommonSubscribeOptions<S> &
  (AcknowledgedOptions | NoAckOptions);

/**
 * Options of every subscription that does not set them itself.
 * @publicApi
 */
export interface SubscribeDefaults
  extends Pick<
    CommonSubscribeOptions,
    | 'queueType'
    | 'prefetch'
    | 'concurrency'
    | 'rate'
    | 'stuckAfter'
    | 'timeout'
    | 'onError'
    | 'onPanic'
    | 'onInvalidPayload'
    | 'declare'
    | 'deserializer'
    | 'allowNonJsonMessages'
    | 'decompress'
  > {
  /** Not for `noAck` subscriptions. */
  readonly retry?: RetryOptions;
  /** Not for `noAck` subscriptions. */
  readonly killSwitch?: KillSwitchOptions;
  /**
   * The dead-letter queue of a queue. Not called for `noAck` subscriptions and server-named queues.
   * @example (queue) => `${queue}.dead`
   */
  readonly deadLetter?: ((queue: string) => string | DeadLetterOptions | undefined) | undefined;
}
