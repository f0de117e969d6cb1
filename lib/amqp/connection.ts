import type { SubscriptionLog } from '../log/subscription-log';
import type { SubscribeOptions } from '../model/options';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { Broker } from './port';

/** What the runtime asks of one of the application's connections. */
export interface BrokerConnection {
  /** The name by which `@Subscribe` refers to it. */
  readonly name: string;
  /** False where the application has switched its handlers off: then nothing consumes. */
  readonly registersHandlers: boolean;
  readonly defaultHandler: string | undefined;
  /** The application's own for all of the connection; `undefined` where it gave none. */
  readonly deserializer: SubscriptionMetadata['deserializer'];
  /** The options that the connection holds under a handler's name; `undefined` where it holds none. */
  handlerOptions(name: string): readonly SubscribeOptions[] | undefined;
  /** Handlers at once for a subscription that names a channel, or none. */
  prefetchOf(channel: string | undefined): number;
  /** The type of an exchange that the connection declares; `undefined` where it does not say. */
  exchangeTypeOf(exchange: string): string | undefined;
  broker(parts: BrokerDependencies): Broker;
}

/** What a broker needs from its host. */
export interface BrokerDependencies {
  /** In ms, for all tries of one copy together. */
  readonly republishTimeout: number;
  logOf(subscription: SubscriptionMetadata): SubscriptionLog;
}
