import type { BrokerConnection } from '../amqp/connection';
import type { ConsumedSubscription } from '../amqp/consumed-subscription';
import type { ServerVersion } from '../amqp/queue-declarations';
import { exactDelaysOf } from '../delivery/waiting-delay';
import { whenText } from '../delivery/when';
import { backoffText } from '../model/backoff';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type {
  ApplicationDescription,
  ConsumerDescription,
  SubscriptionDescription,
} from './description';
import { effectsOf } from './effects';
import { jsonSchemaOf } from './json-schema';
import { bindingsOf, exchangesOf, queuesOf } from './topology';

/** A consumer that is to be described. */
export interface DescribedConsumer {
  readonly subscription: ConsumedSubscription;
  readonly methods: readonly { readonly subscription: SubscriptionMetadata }[];
  readonly connection: Omit<BrokerConnection, 'broker'>;
  /** Whether messages are assigned to methods by `when`. */
  readonly isSelective: boolean;
}

/**
 * Describes the consumers of an application on a version of RabbitMQ. Pure: it declares nothing and asks
 * no server.
 */
export function describeConsumers(
  consumers: readonly DescribedConsumer[],
  version: ServerVersion,
): ApplicationDescription {
  return {
    rabbitmq: version.join('.'),
    consumers: consumers.map((consumer) => consumerOf(consumer, version)),
  };
}

function consumerOf(consumer: DescribedConsumer, version: ServerVersion): ConsumerDescription {
  const { subscription, methods, connection, isSelective } = consumer;
  const { queue, queueType, queueOptions, noAck } = subscription;
  return {
    connection: connection.name,
    virtualHost: connection.virtualHost,
    queue,
    queueType,
    prefetch: subscription.prefetch ?? connection.prefetchOf(queueOptions.channel),
    noAck,
    consumes: connection.registersHandlers,
    exchanges: exchangesOf(subscription, connection),
    queues: queuesOf(subscription, version),
    bindings: bindingsOf(subscription),
    subscriptions: methods.map((method) =>
      subscriptionOf(method.subscription, isSelective ? subscription : undefined, version),
    ),
  };
}

function subscriptionOf(
  subscription: SubscriptionMetadata,
  shared: ConsumedSubscription | undefined,
  version: ServerVersion,
): SubscriptionDescription {
  const { handler, when, retry, backoff, deadLetter, timeout, schema } = subscription;
  const { concurrency, rate, batch } = subscription;
  const payload = schema && jsonSchemaOf(schema);
  return {
    handler,
    ...(when && { when: whenText(when) }),
    ...(retry && {
      retry: {
        attempts: retry.attempts,
        by: retry.by,
        backoff: backoffText(backoff),
        delays: [...exactDelaysOf(subscription)],
      },
    }),
    ...(deadLetter && { deadLetter: { queue: deadLetter.queue, by: deadLetter.by } }),
    ...(timeout !== undefined && { timeout }),
    ...(concurrency !== undefined && { concurrency }),
    ...(rate && { rate: { limit: rate.limit, per: rate.per } }),
    ...(batch && {
      batch: { size: batch.size, wait: batch.wait, concurrency: batch.concurrency },
    }),
    ...(payload && { payload }),
    effects: effectsOf(subscription, shared, version),
  };
}
