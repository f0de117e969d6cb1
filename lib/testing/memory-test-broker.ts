import {
  type AmqpConnection,
  AmqpConnectionManager,
  RABBIT_CONFIG_TOKEN,
  type RabbitMQConfig,
} from '@golevelup/nestjs-rabbitmq';
import { DiscoveryService } from '@nestjs/core';
import type { TestingModuleBuilder } from '@nestjs/testing';
import type { BrokerConnection } from '../broker/connection';
import type { ServerVersion } from '../broker/queue-declarations';
import { type Clock, systemClock } from '../clock';
import { MemoryConnection } from '../memory/memory-connection';
import type { MemoryConsumer } from '../memory/memory-consumer';
import { MemoryServer } from '../memory/memory-server';
import { VirtualClock } from '../memory/virtual-clock';
import { GolevelupConnection, isAmqpConnection } from '../rabbitmq/golevelup';
import { CLOCK, CONNECTIONS } from '../runtime/tokens';
import { MemoryAmqpConnection, propertiesOf } from './memory-amqp-connection';
import type { TestBroker } from './test-broker';
import { type TestProperties, type TestQueue, testMessageOf } from './test-settlement';

/** How long a close waits in real time before the virtual time is moved to its limits, in ms. */
const CLOSING_GRACE = 200;

/** The server in memory, on a clock that a test moves, or on the real one. */
export class MemoryTestBroker implements TestBroker {
  readonly server: MemoryServer;
  readonly #clock: Clock;
  readonly #connections = new Map<AmqpConnection, MemoryConnection>();

  constructor(clock: 'virtual' | 'real', version: ServerVersion) {
    this.#clock = clock === 'virtual' ? new VirtualClock() : systemClock;
    this.server = new MemoryServer(this.#clock, version);
  }

  /** The consumers of the application. */
  get consumers(): readonly MemoryConsumer[] {
    return [...this.#connections.values()].flatMap(({ consumers }) => consumers);
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

  async publish(
    exchange: string,
    routingKey: string,
    body: Buffer,
    properties: TestProperties,
  ): Promise<boolean> {
    return this.server.publish(exchange, routingKey, { body, ...propertiesOf(properties) });
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

  async isSettled(): Promise<boolean> {
    return this.server.isSettled;
  }

  async advance(ms: number, settle: () => Promise<void>): Promise<void> {
    const clock = this.#clock;
    if (!(clock instanceof VirtualClock)) {
      await new Promise<void>((resolve) => clock.after(ms, resolve));
      return settle();
    }
    const target = clock.monotonic() + ms;
    await settle();
    for (let next = clock.nextAt; next !== undefined && next <= target; next = clock.nextAt) {
      clock.moveTo(next);
      await settle();
    }
    clock.moveTo(target);
    await settle();
  }

  async close(closeApplication: () => Promise<void>): Promise<void> {
    let closed = false;
    const closing = closeApplication().finally(() => {
      closed = true;
    });
    const clock = this.#clock;
    if (clock instanceof VirtualClock) {
      // Nobody moves the time while the drain waits for it.
      systemClock.after(CLOSING_GRACE, () => void pump(), { background: true });
    }
    try {
      await closing;
    } finally {
      this.server.close();
    }

    async function pump(): Promise<void> {
      while (!closed && clock instanceof VirtualClock) {
        if (clock.nextAt !== undefined) clock.moveTo(clock.nextAt);
        await new Promise<void>((resolve) => systemClock.nextTurn(resolve));
      }
    }
  }

  #managerFor(config: RabbitMQConfig | undefined): Partial<AmqpConnectionManager> {
    const connection = config && new MemoryAmqpConnection(config, this.server);
    return {
      getConnection: () => connection,
      // golevelup registers its own handlers on what this gives: none run in memory.
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
      const made = new MemoryConnection(options, this.server, this.#clock);
      this.#connections.set(connection, made);
      return made;
    });
  }
}
