import type { MessageDeserializer, QueueOptions } from '@golevelup/nestjs-rabbitmq';
import type { Backoff } from './backoff';
import type { PerformedBy, QueueType, SubscribeOptions } from './options';
import type { ErrorPolicy, FailurePolicy } from './policy';

/** One exchange and routing key that fill the queue. */
export interface Binding {
  readonly exchange: string;
  /** `undefined` where none was given: the empty key, for exchanges that do not look at it. */
  readonly routingKey: string | undefined;
}

/**
 * One `@Subscribe` on one method of one provider, its options normalised and frozen.
 * @publicApi
 */
export interface SubscriptionMetadata {
  /** The class and method, as log lines name them: `Billing.charge`. */
  readonly handler: string;
  /** The option `name`, else the queue, else the empty text. */
  readonly name: string;
  /** The name of golevelup's connection; `undefined` where the application has one only. */
  readonly connection: string | undefined;
  /** `undefined` where the server names the queue. */
  readonly queue: string | undefined;
  readonly queueType: QueueType;
  readonly queueOptions: QueueOptions;
  readonly bindings: readonly Binding[];
  /** `undefined` until the connection has supplied it. */
  readonly prefetch: number | undefined;
  readonly retry:
    | { readonly attempts: number; readonly by: PerformedBy; readonly maxDeliveries: number }
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
  readonly noAck: boolean;
  readonly declare: {
    readonly queue: boolean;
    readonly bindings: boolean;
    readonly waiting: boolean;
    readonly deadLetter: boolean;
  };
  readonly deserializer: MessageDeserializer | undefined;
  readonly allowNonJsonMessages: boolean;
  /** What the decorator was given, before defaults. */
  readonly options: SubscribeOptions;
}
