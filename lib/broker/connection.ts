import type { SubscriptionLog } from '../subscription/log';
import type { SubscribeOptions } from '../subscription/options';
import type { Subscription } from '../subscription/subscription';
import type { Broker } from './port';

/** What the runtime asks of one of the application's connections. */
export interface BrokerConnection {
  /** The name by which `@Subscribe` refers to it. */
  readonly name: string;
  /** False where the application has switched its handlers off: then nothing consumes. */
  readonly registersHandlers: boolean;
  readonly defaultHandler: string | undefined;
  /** The application's own for all of the connection; `undefined` where it gave none. */
  readonly deserializer: Subscription['deserializer'];
  /** The options that the connection holds under a handler's name; `undefined` where it holds none. */
  handlerOptions(name: string): readonly SubscribeOptions[] | undefined;
  /** Handlers at once for a subscription that names a channel, or none. */
  prefetchOf(channel: string | undefined): number;
  /** The type of an exchange that the connection declares; `undefined` where it does not say. */
  exchangeTypeOf(exchange: string): string | undefined;
  broker(parts: BrokerParts): Broker;
}

/** What a broker needs from its surroundings. */
export interface BrokerParts {
  /** In ms, for all tries of one copy together. */
  readonly copyTimeout: number;
  logOf(subscription: Subscription): SubscriptionLog;
}
