import type { MessageDeserializer, QueueOptions } from '@golevelup/nestjs-rabbitmq';
import type { Backoff } from './backoff';
import type { OrderOptions } from './consumer-options';
import type { PerformedBy, QueueType, SubscribeOptions } from './options';
import type { WhenOptions } from './payload-options';
import type { ErrorMatch, ErrorPolicy, FailurePolicy } from './policy';
import type { PayloadSchema } from './schema';

/** One binding of the queue. */
export interface Binding {
  readonly exchange: string;
  /** `undefined` if none was set: bound with the empty key, which some exchange types ignore. */
  readonly routingKey: string | undefined;
}

/**
 * One `@Subscribe` on one method of one provider: its options with all defaults, frozen. Injected with
 * `@InjectSubscription`.
 * @publicApi
 */
export interface SubscriptionMetadata {
  /** The class and method, as log lines name them: `Billing.charge`. */
  readonly handler: string;
  /** The option `name`, else the queue, else the empty text. */
  readonly name: string;
  /** The name of golevelup's connection; `undefined` if the application has only one. */
  readonly connection: string | undefined;
  /** `undefined` if the queue is server-named. */
  readonly queue: string | undefined;
  readonly queueType: QueueType;
  readonly queueOptions: QueueOptions;
  readonly bindings: readonly Binding[];
  /** `undefined`: that of the connection. */
  readonly prefetch: number | undefined;
  /** `undefined`: the prefetch is the limit. */
  readonly concurrency: number | undefined;
  /** `per` in ms; `undefined`: no limit. */
  readonly rate: { readonly limit: number; readonly per: number } | undefined;
  /** `wait` in ms; `undefined`: one message at a time. */
  readonly batch:
    | {
        readonly size: number;
        readonly wait: number;
        readonly concurrency: number;
        readonly isolateRetries: boolean;
      }
    | undefined;
  /** In ms; 0: never. */
  readonly stuckAfter: number;
  /** `hold` and `hotKeyAfter` in ms, 0: never; `undefined`: no order. */
  readonly order:
    | {
        readonly by: OrderOptions['by'];
        readonly hold: number;
        readonly whenStuck: NonNullable<OrderOptions['whenStuck']>;
        readonly hotKeyAfter: number;
        readonly instances: 1 | undefined;
      }
    | undefined;
  readonly singleActiveConsumer: boolean;
  /** `undefined`: 0, RabbitMQ's default. */
  readonly consumerPriority: number | undefined;
  /** In ms; `undefined`: that of the queue or the server. */
  readonly consumerTimeout: number | undefined;
  readonly retry:
    | {
        readonly attempts: number;
        readonly by: PerformedBy;
        readonly maxDeliveries: number;
        /** In ms; `undefined`: no limit. */
        readonly maxAge: number | undefined;
      }
    | undefined;
  readonly backoff: Backoff;
  readonly deadLetter:
    | {
        readonly queue: string;
        readonly by: PerformedBy;
        readonly stack: boolean;
        readonly queueOptions: QueueOptions;
      }
    | undefined;
  /** In ms; `undefined`: no limit. */
  readonly timeout: number | undefined;
  readonly onError: ErrorPolicy;
  readonly onPanic: FailurePolicy;
  readonly onInvalidPayload: FailurePolicy;
  /** Whether each delivery has its own request-scoped providers. */
  readonly requestScope: boolean;
  readonly noAck: boolean;
  readonly declare: {
    readonly queue: boolean;
    readonly bindings: boolean;
    readonly waiting: boolean;
    readonly deadLetter: boolean;
  };
  readonly deserializer: MessageDeserializer | undefined;
  readonly allowNonJsonMessages: boolean;
  readonly schema: PayloadSchema | undefined;
  /** `undefined`: every message. */
  readonly when: WhenOptions | undefined;
  /** `undefined` if it is not set: `'drop'`, or what another method of the queue sets. */
  readonly onUnmatched: FailurePolicy | undefined;
  /** `max` in bytes; `undefined`: compressed bodies are not decompressed. */
  readonly decompress: { readonly max: number } | undefined;
  /** Durations in ms. */
  readonly killSwitch:
    | {
        readonly failures: number;
        readonly minimum: number;
        readonly window: number;
        readonly pause: number;
        readonly max: number;
        readonly on: ErrorMatch | undefined;
      }
    | undefined;
  /** The options of the decorator, without defaults. */
  readonly options: SubscribeOptions;
}
