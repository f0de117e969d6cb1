import type { BrokerConnection, BrokerDependencies } from '../amqp/connection';
import type { ConsumedSubscription } from '../amqp/consumed-subscription';
import type { Broker, BrokerConsumer, ConsumerListener, MessageCounts } from '../amqp/port';
import type { QueueClient } from '../amqp/queue-client';
import type { TopologyClient } from '../amqp/topology-client';
import type { Clock } from '../clock';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { MemoryConsumer } from './memory-consumer';
import { MemoryQueueClient } from './memory-queue-client';
import type { MemoryServer } from './memory-server';
import { type MemoryClient, memoryTopologyClientOf } from './memory-topology';

/** The broker of one connection to the server in memory. */
export class MemoryBroker implements Broker {
  readonly #consumers: MemoryConsumer[] = [];

  constructor(
    private readonly client: MemoryClient,
    private readonly clock: Clock,
    private readonly parts: BrokerDependencies,
  ) {}

  /** Its consumers, in the order in which they were made. */
  get consumers(): readonly MemoryConsumer[] {
    return this.#consumers;
  }

  consumer(
    subscription: ConsumedSubscription,
    prefetch: number,
    listener: ConsumerListener,
  ): BrokerConsumer {
    const consumer = new MemoryConsumer({
      client: this.client,
      subscription,
      prefetch,
      listener,
      log: this.parts.logOf(subscription),
      clock: this.clock,
      republishTimeout: this.parts.republishTimeout,
    });
    this.#consumers.push(consumer);
    return consumer;
  }

  async queueCounts(queues: readonly string[]): Promise<ReadonlyMap<string, MessageCounts>> {
    const { server } = this.client;
    const counts = new Map<string, MessageCounts>();
    for (const name of queues) {
      if (!server.hasQueue(name)) continue;
      const { ready, unacknowledged, consumerCount } = server.queue(name);
      counts.set(name, { ready: ready.length, unacknowledged, consumers: consumerCount });
    }
    return counts;
  }

  // The server outlives its clients: a test looks at what they leave behind.
  async close(): Promise<void> {
    this.client.server.disconnected(this.client.owner);
  }
}

/** A connection of the application to the server in memory, with the options of its own. */
export class MemoryConnection implements BrokerConnection {
  #broker: MemoryBroker | undefined;

  constructor(
    private readonly options: Omit<
      BrokerConnection,
      'broker' | 'openQueueClient' | 'topologyClient'
    >,
    private readonly server: MemoryServer,
    private readonly clock: Clock,
    /** The owner of the exclusive queues that are declared through it. */
    private readonly owner: unknown = options,
  ) {}

  get name(): string {
    return this.options.name;
  }

  get registersHandlers(): boolean {
    return this.options.registersHandlers;
  }

  get registersControllers(): boolean {
    return this.options.registersControllers;
  }

  get defaultHandler(): string | undefined {
    return this.options.defaultHandler;
  }

  get ignoredErrorBehavior(): string | undefined {
    return this.options.ignoredErrorBehavior;
  }

  get deserializer(): SubscriptionMetadata['deserializer'] {
    return this.options.deserializer;
  }

  handlerOptions(name: string): ReturnType<BrokerConnection['handlerOptions']> {
    return this.options.handlerOptions(name);
  }

  prefetchOf(channel: string | undefined): number {
    return this.options.prefetchOf(channel);
  }

  exchangeTypeOf(exchange: string): string | undefined {
    return this.options.exchangeTypeOf(exchange);
  }

  get virtualHost(): string {
    return this.options.virtualHost;
  }

  get exchanges(): BrokerConnection['exchanges'] {
    return this.options.exchanges;
  }

  topologyClient(): TopologyClient {
    const { server, owner } = this;
    return memoryTopologyClientOf({ server, owner });
  }

  /** Its consumers; none before the application has started. */
  get consumers(): readonly MemoryConsumer[] {
    return this.#broker?.consumers ?? [];
  }

  broker(parts: BrokerDependencies): Broker {
    const { server, owner } = this;
    this.#broker ??= new MemoryBroker({ server, owner }, this.clock, parts);
    return this.#broker;
  }

  async openQueueClient(): Promise<QueueClient> {
    const { server, owner } = this;
    return new MemoryQueueClient({ server, owner }, this.clock);
  }

  /** Closes the connection as a network failure does: its channels close, its exclusive queues are deleted. */
  lose(): void {
    this.server.disconnected(this.owner);
    for (const { channel } of this.consumers) channel?.close();
  }
}
