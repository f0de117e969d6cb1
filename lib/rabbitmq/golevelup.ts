import { AmqpConnection, MessageHandlerErrorBehavior } from '@golevelup/nestjs-rabbitmq';
import type { BrokerConnection, BrokerDependencies, DeclaredExchange } from '../amqp/connection';
import type { Broker } from '../amqp/port';
import type { QueueClient } from '../amqp/queue-client';
import type { TopologyClient } from '../amqp/topology-client';
import type { Clock } from '../clock';
import type { SubscribeOptions } from '../model/options';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { ManagedConnection } from './managed-connection';
import { type ServerAddress, virtualHostOf } from './peer';
import { RabbitMQBroker } from './rabbitmq-broker';
import { RabbitMQQueueClient } from './rabbitmq-queue-client';
import { topologyClientOf } from './scratch-channel';

const DEFAULT_PREFETCH = 10;

/** Whether a value is an `AmqpConnection` of golevelup, of this or another copy of the package. */
export function isAmqpConnection(value: unknown): value is AmqpConnection {
  if (typeof value !== 'object' || value === null) return false;
  // A bundler can rename the class; another copy of the package has another class of the same name.
  if (value instanceof AmqpConnection) return true;
  for (let type = Object.getPrototypeOf(value); type !== null; type = Object.getPrototypeOf(type)) {
    if (type.constructor?.name === 'AmqpConnection') return 'configuration' in value;
  }
  return false;
}

/** One of the application's connections, on an `AmqpConnection` of golevelup. */
export class GolevelupConnection implements BrokerConnection {
  #managed: ManagedConnection | undefined;

  constructor(
    private readonly connection: AmqpConnection,
    private readonly clock: Clock,
  ) {}

  get #configuration(): AmqpConnection['configuration'] {
    return this.connection.configuration;
  }

  get name(): string {
    return this.#configuration.name;
  }

  get registersHandlers(): boolean {
    return this.#configuration.registerHandlers;
  }

  get registersControllers(): boolean {
    return this.#configuration.enableControllerDiscovery;
  }

  get defaultHandler(): string | undefined {
    return this.#configuration.defaultHandler || undefined;
  }

  get deserializer(): SubscriptionMetadata['deserializer'] {
    const { deserializer } = this.#configuration;
    // golevelup's default takes invalid UTF-8 for text; only a deserializer of the application is used.
    const Connection = this.connection.constructor as new (config: object) => AmqpConnection;
    const own = new Connection({ uri: [], name: this.name }).configuration.deserializer;
    return String(deserializer) === String(own) ? undefined : deserializer;
  }

  get ignoredErrorBehavior(): string | undefined {
    const { defaultSubscribeErrorBehavior: behavior } = this.#configuration;
    return behavior === MessageHandlerErrorBehavior.REQUEUE ? undefined : behavior;
  }

  handlerOptions(name: string): readonly SubscribeOptions[] | undefined {
    const { handlers } = this.#configuration;
    const entry = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
    if (entry === undefined) return undefined;
    return (Array.isArray(entry) ? entry : [entry]) as readonly SubscribeOptions[];
  }

  prefetchOf(channel: string | undefined): number {
    const { channels, prefetchCount } = this.#configuration;
    const named = channel === undefined ? undefined : channels[channel]?.prefetchCount;
    return named || prefetchCount || DEFAULT_PREFETCH;
  }

  exchangeTypeOf(exchange: string): string | undefined {
    const { exchanges, defaultExchangeType } = this.#configuration;
    const declared = exchanges.find(({ name }) => name === exchange);
    return declared && (declared.type ?? defaultExchangeType);
  }

  get virtualHost(): string {
    const [first] = [this.#configuration.uri ?? []].flat() as readonly ServerAddress[];
    return first === undefined ? '/' : virtualHostOf(first);
  }

  get exchanges(): readonly DeclaredExchange[] {
    const { exchanges, defaultExchangeType } = this.#configuration;
    return exchanges
      .filter(({ createExchangeIfNotExists = true }) => createExchangeIfNotExists)
      .map(({ name, type = defaultExchangeType, options = {} }) => ({
        name,
        type,
        durable: options.durable ?? true,
        autoDelete: options.autoDelete ?? false,
        internal: options.internal ?? false,
        arguments: {
          ...options.arguments,
          ...(options.alternateExchange && { 'alternate-exchange': options.alternateExchange }),
        },
      }));
  }

  topologyClient(): TopologyClient | undefined {
    this.#managed ??= new ManagedConnection(this.connection, this.clock);
    const { current } = this.#managed;
    return current && topologyClientOf(current);
  }

  broker(parts: BrokerDependencies): Broker {
    return new RabbitMQBroker({ ...parts, connection: this.connection, clock: this.clock });
  }

  openQueueClient(): Promise<QueueClient> {
    this.#managed ??= new ManagedConnection(this.connection, this.clock);
    return RabbitMQQueueClient.open(this.#managed, this.clock);
  }
}
