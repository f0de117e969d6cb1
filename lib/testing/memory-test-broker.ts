import {
  type AmqpConnection,
  AmqpConnectionManager,
  RABBIT_CONFIG_TOKEN,
  type RabbitMQConfig,
} from '@golevelup/nestjs-rabbitmq';
import { DiscoveryService } from '@nestjs/core';
import type { TestingModuleBuilder } from '@nestjs/testing';
import type { BrokerConnection } from '../amqp/connection';
import { methodsOf } from '../amqp/consumed-subscription';
import type { ServerVersion } from '../amqp/queue-declarations';
import { type Clock, sleep, systemClock } from '../clock';
import { MemoryConnection } from '../memory/memory-connection';
import type { MemoryConsumer } from '../memory/memory-consumer';
import { MemoryServer } from '../memory/memory-server';
import { VirtualClock } from '../memory/virtual-clock';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { CLOCK, CONNECTIONS } from '../nest/tokens';
import { GolevelupConnection, isAmqpConnection } from '../rabbitmq/golevelup';
import { MemoryAmqpConnection } from './memory-amqp-connection';
import { requireText, sentPropertiesOf } from './publish-options';
import type { Quiet, TestBroker, TestTopology } from './test-broker';
import { type TestProperties, type TestQueue, testMessageOf } from './test-settlement';

/** How often a close looks again whether anything is in flight, in ms. */
const CLOSING_INTERVAL = 5;

/** The server in memory, on a clock that the test moves, or on the real one. */
export class MemoryTestBroker implements TestBroker {
  readonly server: MemoryServer;
  readonly #clock: Clock;
  /** The connections that the application injects, by name. */
  readonly #injected = new Map<string, MemoryAmqpConnection>();
  readonly #connections = new Map<AmqpConnection, MemoryConnection>();

  constructor(clock: 'virtual' | 'real', version: ServerVersion) {
    this.#clock = clock === 'virtual' ? new VirtualClock() : systemClock;
    this.server = new MemoryServer(this.#clock, version);
  }

  /** The consumers of the application. */
  get consumers(): readonly MemoryConsumer[] {
    return [...this.#connections.values()].flatMap(({ consumers }) => consumers);
  }

  /** The consumer of a subscription; methods that share a queue share one. */
  consumerOf(subscription: SubscriptionMetadata): MemoryConsumer | undefined {
    return this.consumers.find(({ subscription: consumed }) =>
      [consumed, ...methodsOf(consumed)].includes(subscription),
    );
  }

  prepare(builder: TestingModuleBuilder): void {
    builder
      .overrideProvider(CLOCK)
      .useValue(this.#clock)
      // golevelup connects inside this provider's factory.
      .overrideProvider(AmqpConnectionManager)
      .useFactory({
        factory: (config: RabbitMQConfig | undefined) => this.#managerFor(config),
        inject: [RABBIT_CONFIG_TOKEN],
      })
      .overrideProvider(CONNECTIONS)
      .useFactory({
        factory: (discovery: DiscoveryService) => () => this.#find(discovery),
        inject: [DiscoveryService],
      });
  }

  async declare({ exchanges = [], queues = [] }: TestTopology): Promise<void> {
    const { server } = this;
    for (const { name, type } of exchanges) server.declareExchange(name, type);
    for (const { name, arguments: args = {}, exchange, routingKey = '' } of queues) {
      server.declareQueue(name, { arguments: args });
      if (exchange !== undefined) server.bind(name, exchange, routingKey);
    }
  }

  async publish(
    exchange: string,
    routingKey: string,
    body: Buffer,
    properties: TestProperties,
  ): Promise<boolean> {
    const [to, key] = [requireText('exchange', exchange), requireText('routingKey', routingKey)];
    return this.server.publish(to, key, { body, ...sentPropertiesOf(properties) });
  }

  async queue(name: string): Promise<TestQueue> {
    const queue = this.server.queue(name);
    return {
      ready: queue.ready.length,
      unacknowledged: queue.unacknowledged,
      consumers: queue.consumerCount,
      messages: queue.ready.map(
        ({ body, exchange, routingKey, redelivered, headers, properties }) =>
          testMessageOf({
            body,
            exchange,
            routingKey,
            redelivered,
            headers: { ...headers },
            properties,
          }),
      ),
    };
  }

  turn(): Promise<void> {
    return new Promise((resolve) => systemClock.nextTurn(resolve));
  }

  async isSettled(): Promise<boolean> {
    return this.server.isSettled;
  }

  async advance(ms: number, quiet: Quiet): Promise<void> {
    const clock = this.#clock;
    if (!(clock instanceof VirtualClock)) {
      await new Promise<void>((resolve) => clock.after(ms, resolve));
      return quiet.wait();
    }
    const target = clock.monotonic() + ms;
    await quiet.wait();
    for (let next = clock.nextAt; next !== undefined && next <= target; next = clock.nextAt) {
      const isLikely = !clock.nextIsBackground;
      clock.moveTo(next);
      await quiet.wait({ isLikely });
    }
    clock.moveTo(target);
    await quiet.wait();
  }

  // The queues stay as they are and can be inspected. Time advances only if the test advances it.
  async close(closeApplication: () => Promise<void>, quiet: Quiet): Promise<void> {
    const closed = new AbortController();
    const closing = closeApplication().finally(() => closed.abort());
    await Promise.all([closing, this.#moveTime(quiet, closed.signal)]);
    if (!(this.#clock instanceof VirtualClock)) this.server.stop();
  }

  // Nobody else moves the virtual time while the shutdown waits for what is in flight.
  async #moveTime(quiet: Quiet, closed: AbortSignal): Promise<void> {
    const clock = this.#clock;
    while (clock instanceof VirtualClock && !closed.aborted) {
      if (quiet.inFlight > 0) await quiet.wait({ signal: closed });
      else await sleep(systemClock, CLOSING_INTERVAL, closed);
      const next = quiet.inFlight > 0 ? clock.nextAt : undefined;
      if (next !== undefined && !closed.aborted) clock.moveTo(next);
    }
  }

  // One for all modules, as golevelup's own.
  #managerFor(config: RabbitMQConfig | undefined): Partial<AmqpConnectionManager> {
    if (config !== undefined) {
      const connection = new MemoryAmqpConnection(config, this.server);
      this.#injected.set(connection.configuration.name, connection);
    }
    return {
      getConnection: (name) => this.#injected.get(name),
      // golevelup registers its own handlers on these connections: none run in memory.
      getConnections: () => [],
      addConnection: () => undefined,
      clearConnections: () => undefined,
      close: async () => undefined,
    };
  }

  #find(discovery: DiscoveryService): readonly BrokerConnection[] {
    const instances = discovery.getProviders().map(({ instance }) => instance as unknown);
    return [...new Set(instances.filter(isAmqpConnection))].map((connection) => {
      const known = this.#connections.get(connection);
      if (known !== undefined) return known;
      const options = new GolevelupConnection(connection, this.#clock);
      const made = new MemoryConnection(options, this.server, this.#clock, connection);
      this.#connections.set(connection, made);
      return made;
    });
  }
}
