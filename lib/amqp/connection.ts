import type { SubscriptionLog } from '../log/subscription-log';
import type { SubscribeOptions } from '../model/options';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { Broker } from './port';
import type { QueueClient } from './queue-client';
import type { TopologyClient } from './topology-client';

/** One of the application's connections. */
export interface BrokerConnection {
  /** The name by which `@Subscribe` refers to it. */
  readonly name: string;
  /** False if the connection has `registerHandlers: false`: then nothing consumes. */
  readonly registersHandlers: boolean;
  /** Whether golevelup registers its handlers in controllers, too. */
  readonly registersControllers: boolean;
  readonly defaultHandler: string | undefined;
  /** golevelup's `defaultSubscribeErrorBehavior`, unless it is the default. */
  readonly ignoredErrorBehavior: string | undefined;
  /** The connection's own deserializer, if it has one. */
  readonly deserializer: SubscriptionMetadata['deserializer'];
  /** The entry of a name in the connection's `handlers`, if there is one. */
  handlerOptions(name: string): readonly SubscribeOptions[] | undefined;
  /** The prefetch count of a named channel, else of the connection. */
  prefetchOf(channel: string | undefined): number;
  /** The type of an exchange that the connection declares; `undefined` if it does not declare it. */
  exchangeTypeOf(exchange: string): string | undefined;
  readonly virtualHost: string;
  /** The exchanges that the connection declares. */
  readonly exchanges: readonly DeclaredExchange[];
  /** Declares and checks on the connection; `undefined` while it is down. */
  topologyClient(): TopologyClient | undefined;
  broker(dependencies: BrokerDependencies): Broker;
  /** A client on connections of its own. Rejects if the broker cannot be reached. */
  openQueueClient(): Promise<QueueClient>;
}

/** An exchange as it is declared. */
export interface DeclaredExchange {
  readonly name: string;
  readonly type: string;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly internal: boolean;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What a broker depends on. */
export interface BrokerDependencies {
  /** In ms, for all tries of one message together. */
  readonly republishTimeout: number;
  logOf(subscription: SubscriptionMetadata): SubscriptionLog;
}
