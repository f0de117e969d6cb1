import type { PerformedBy, QueueType } from '../model/options';

/** A queue as it is declared. */
export interface QueueDescription {
  /** `undefined` if it is server-named. */
  readonly name: string | undefined;
  readonly purpose: 'subscription' | 'waiting' | 'dead-letter';
  readonly durable: boolean;
  readonly exclusive: boolean;
  readonly autoDelete: boolean;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** When the application declares it: at startup, when it is first needed, or never (`declare`). */
  readonly declared: 'startup' | 'first use' | 'never';
}

/** An exchange that the application declares, or only binds to (`type` is then `undefined`). */
export interface ExchangeDescription {
  readonly name: string;
  readonly type: string | undefined;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly internal: boolean;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A binding of the queue. */
export interface BindingDescription {
  readonly exchange: string;
  readonly routingKey: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Whether the application declares it. */
  readonly isDeclared: boolean;
}

/** What becomes of a message after one thing that can happen to it. */
export interface EffectDescription {
  /** What happens: what the handler returns or throws, or what goes wrong, such as `crash`. */
  readonly event: string;
  /** The policy that decides; absent if the handler decides, or RabbitMQ. */
  readonly policy?: string;
  readonly effect: string;
  /** What happens on the last attempt, if that is something else. */
  readonly onLastAttempt?: string;
}

/** One subscription: a method and its options. */
export interface SubscriptionDescription {
  /** The class and method. */
  readonly handler: string;
  /** The condition, as the startup line shows it; absent without `when`. */
  readonly when?: string;
  readonly retry?: {
    readonly attempts: number;
    readonly by: PerformedBy;
    readonly backoff: string;
    /** The first delays, in ms, if they are known in advance. */
    readonly delays: readonly number[];
  };
  readonly deadLetter?: { readonly queue: string; readonly by: PerformedBy };
  /** In ms. */
  readonly timeout?: number;
  readonly concurrency?: number;
  /** `per` in ms. */
  readonly rate?: { readonly limit: number; readonly per: number };
  /** `wait` in ms. */
  readonly batch?: { readonly size: number; readonly wait: number; readonly concurrency: number };
  /** The JSON Schema (draft 7) of valid payloads, if the schema can be converted. */
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly effects: readonly EffectDescription[];
}

/** One consumer: its queue, what belongs to it, and the methods that handle its messages. */
export interface ConsumerDescription {
  readonly connection: string;
  readonly virtualHost: string;
  /** `undefined` if the queue is server-named. */
  readonly queue: string | undefined;
  readonly queueType: QueueType;
  readonly prefetch: number;
  readonly noAck: boolean;
  /** False if the connection has `registerHandlers: false`. */
  readonly consumes: boolean;
  readonly exchanges: readonly ExchangeDescription[];
  readonly queues: readonly QueueDescription[];
  readonly bindings: readonly BindingDescription[];
  readonly subscriptions: readonly SubscriptionDescription[];
}

/**
 * What the subscriptions of an application declare and do, as plain values.
 * @publicApi
 */
export interface ApplicationDescription {
  /** The version of RabbitMQ that it holds for: major and minor. */
  readonly rabbitmq: string;
  readonly consumers: readonly ConsumerDescription[];
}
