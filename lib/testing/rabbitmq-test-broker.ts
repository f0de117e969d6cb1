import {
  AmqpConnection,
  AmqpConnectionManager,
  RABBIT_CONFIG_TOKEN,
  type RabbitMQConfig,
  RabbitMQModule,
} from '@golevelup/nestjs-rabbitmq';
import type { TestingModuleBuilder } from '@nestjs/testing';
import { systemClock } from '../clock';
import type { TestBroker } from './test-broker';
import {
  type TestMessage,
  type TestProperties,
  type TestQueue,
  testMessageOf,
} from './test-settlement';

/** A real server: the application connects to it as it does outside of tests, at the URL of the test. */
export class RabbitTestBroker implements TestBroker {
  #connection: AmqpConnection | undefined;

  constructor(private readonly url: string) {}

  prepare(builder: TestingModuleBuilder): void {
    builder.overrideProvider(AmqpConnectionManager).useFactory({
      factory: async (config: RabbitMQConfig | undefined) => {
        const own = config && { ...config, uri: this.url };
        await RabbitMQModule.AmqpConnectionFactory(own as RabbitMQConfig);
        const manager = managerOfModule();
        this.#connection ??= own && manager.getConnection(own.name ?? 'default');
        return manager;
      },
      inject: [RABBIT_CONFIG_TOKEN],
    });
  }

  async publish(
    exchange: string,
    routingKey: string,
    body: Buffer,
    properties: TestProperties,
  ): Promise<boolean> {
    return this.#onChannel(async (channel) => {
      let returned = false;
      channel.on('return', () => {
        returned = true;
      });
      channel.publish(exchange, routingKey, body, { ...properties, mandatory: true });
      await channel.waitForConfirms();
      return !returned;
    });
  }

  async queue(name: string): Promise<TestQueue> {
    return this.#onChannel(async (channel) => {
      const { messageCount, consumerCount } = await channel.checkQueue(name);
      const messages: TestMessage[] = [];
      // Taken on a channel that is closed afterwards: they go back in their places.
      for (let message = await channel.get(name); message; message = await channel.get(name)) {
        const { exchange, routingKey, redelivered } = message.fields;
        const { headers, ...properties } = message.properties;
        const { content: body } = message;
        const table = { ...headers };
        messages.push(
          testMessageOf({ body, exchange, routingKey, redelivered, headers: table, properties }),
        );
      }
      return {
        ready: messageCount,
        unacknowledged: undefined,
        consumers: consumerCount,
        messages,
      };
    });
  }

  async isSettled(): Promise<boolean> {
    return true;
  }

  async advance(ms: number, settle: () => Promise<void>): Promise<void> {
    await new Promise<void>((resolve) => systemClock.after(ms, resolve));
    await settle();
  }

  close(closeApplication: () => Promise<void>): Promise<void> {
    return closeApplication();
  }

  async #onChannel<T>(work: (channel: ConfirmChannel) => Promise<T>): Promise<T> {
    const connection = this.#connection?.managedConnection.connection;
    if (connection === undefined) throw new Error('The test has no connection to its server');
    const channel = await connection.createConfirmChannel();
    let failed = false;
    channel.on('error', () => {
      failed = true; // The rejection of the call that caused it says the same.
    });
    try {
      return await work(channel);
    } finally {
      if (!failed) await channel.close();
    }
  }
}

type RawConnection = NonNullable<AmqpConnection['managedConnection']['connection']>;
type ConfirmChannel = Awaited<ReturnType<RawConnection['createConfirmChannel']>>;

// The one that golevelup's module keeps for the process, where its factory has put the connection.
function managerOfModule(): AmqpConnectionManager {
  return Reflect.get(RabbitMQModule, 'connectionManager') as AmqpConnectionManager;
}
