import type { Delivery } from './delivery';
import type { Duration } from './duration';

/**
 * How often handlers begin.
 * @example { limit: 100, per: '1s' }
 * @publicApi
 */
export interface RateOptions {
  /** How many handlers may begin within any span of `per`, 1 to 100 000; they may begin all at once. */
  readonly limit: number;
  /** The span. */
  readonly per: Duration;
}

/**
 * How messages are collected to batches.
 * @example { size: 100, wait: '200ms' }
 * @publicApi
 */
export interface BatchOptions {
  /** How many messages a batch has at most, 1 to 65 535. */
  readonly size: number;
  /**
   * How long the first message of a batch waits for others.
   * @default '200ms'
   */
  readonly wait?: Duration;
  /**
   * How many batches are handled at once. Times `size`, it is at most the prefetch.
   * @default 1
   */
  readonly concurrency?: number;
  /**
   * Whether a message that has been tried before is handled alone: a message that fails every batch then costs
   * the others one attempt at most. On queues that do not count redeliveries, any redelivered message has
   * been tried.
   * @default true
   */
  readonly isolateRetries?: boolean;
}

/**
 * How messages with the same key are kept in order.
 * @example { by: (delivery) => delivery.routingKey, hold: '1m' }
 * @publicApi
 */
export interface OrderOptions {
  /**
   * The key of a message; `undefined` for a message without order. Called before the body is decoded: the key
   * is in headers, properties or the routing key. If it throws, the message has failed: `onError`.
   */
  by(delivery: Delivery): string | undefined;
  /**
   * How long a message is retried in its place, from its first attempt on. Shorter than the consumer timeout.
   * @default '1m'
   */
  readonly hold?: Duration;
  /**
   * What happens to a message that fails beyond `hold` or `retry.attempts`: the subscription is paused until
   * `SubscriptionRegistry.resume`; the message is dead-lettered, and its key goes on; or it is retried as
   * without `order`, and later messages overtake it.
   * @default 'pause'
   */
  readonly whenStuck?: 'pause' | 'deadLetter' | 'overtake';
  /**
   * How long one key may have more than half of the prefetched messages until a log line warns of it: those
   * of other keys are then held back by the prefetch. `false` or 0: never.
   * @default '10s'
   */
  readonly hotKeyAfter?: Duration | false;
  /** `1`: only one process ever consumes the queue, so that it needs no `singleActiveConsumer`. */
  readonly instances?: 1;
}

/**
 * How a subscription consumes, what it holds back, and which providers it uses.
 * @publicApi
 */
export interface ConsumerOptions {
  /**
   * How many handlers run at once, at most the prefetch: what else is prefetched waits, and is requeued when
   * the subscription is paused or stops. A handler that goes on after its `timeout` is not counted.
   * @default the prefetch
   * @example 2
   */
  readonly concurrency?: number;
  /**
   * How often handlers begin, in this process: n instances of the application reach n times the rate.
   * Deliveries that are held back stay unacknowledged, so that the prefetch divided by the rate must not be
   * longer than half of the consumer timeout that the subscription declares.
   * @default no limit
   * @example { limit: 100, per: '1s' }
   */
  readonly rate?: RateOptions;
  /**
   * Handles messages in batches: the method receives `(payloads, deliveries)` and returns nothing, one outcome
   * for all, or a list with an outcome or `undefined` for each. Every message has its own attempts, retries,
   * dead letter and settlement. The prefetch is by default `size` times `concurrency`. Not with `noAck`,
   * `concurrency` or decorated parameters. With `rate`, calls of the method are counted.
   * @default one message at a time
   * @example { size: 100, wait: '200ms' }
   */
  readonly batch?: BatchOptions;
  /**
   * How long a delivery may be in flight until it is reported as stuck: once, in a log line, in
   * `SubscriptionStatus.stuck` and in health checks. Nothing else happens to it; `timeout` ends a handler.
   * Time that it waits for `concurrency` or `rate` is not counted. `false` or 0: never.
   * @default '5m'
   * @example '30m'
   */
  readonly stuckAfter?: Duration | false;
  /**
   * Handles messages with the same key one after the other, in the order of the queue, and others beside them.
   * A retry keeps its place: the message stays unacknowledged and is handled again in this process. Needs
   * `singleActiveConsumer` or `order.instances: 1`.
   * @default no order
   * @example { by: (delivery) => delivery.routingKey, hold: '1m' }
   */
  readonly order?: OrderOptions;
  /**
   * Whether RabbitMQ delivers to one consumer of the queue at a time, the others standing by
   * (`x-single-active-consumer`). An existing queue has to have been declared with the same.
   * @default false
   * @example true
   */
  readonly singleActiveConsumer?: boolean;
  /**
   * RabbitMQ delivers to consumers of a higher priority first, as long as their prefetch allows
   * (`x-priority`).
   * @default 0
   * @example 10
   */
  readonly consumerPriority?: number;
  /**
   * How long a delivery may stay unacknowledged before RabbitMQ closes the channel, or from 4.3 on cancels
   * the consumer (`x-consumer-timeout`), at least one minute. RabbitMQ before 3.12, and classic queues from
   * 4.3 on, have none; a queue that was declared without it keeps its own limit before 4.3.
   * @default that of the queue or the server
   * @example '1h'
   */
  readonly consumerTimeout?: Duration;
  /**
   * Whether each delivery has its own instances of request-scoped providers: of the class of the method, of what it
   * injects, and of guards, pipes, interceptors and filters. `@Inject(REQUEST)` is the `Delivery`. A provider that
   * is request-scoped, or transient, needs it. What a constructor or a factory throws is an error of the handler:
   * `onError` applies. Not together with `batch`.
   * @default false
   * @example true
   */
  readonly requestScope?: boolean;
}
