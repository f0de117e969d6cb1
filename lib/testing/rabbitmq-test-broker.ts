import {
  AmqpConnection,
  AmqpConnectionManager,
  RABBIT_CONFIG_TOKEN,
  type RabbitMQConfig,
  RabbitMQModule,
} from '@golevelup/nestjs-rabbitmq';
import type { TestingModuleBuilder } from '@nestjs/testing';
import { systemClock } from '../clock';
import type { Settle, TestBroker, TestTopology } from './test-broker';
import {
  type TestMessage,
  type TestProperties,
  type TestQueue,
  testMessageOf,
} from './test-settlement';

/** How long whatever is under way gets at once, in ms. */
const TURN = 20;

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

  async declare({ exchanges = [], queues = [] }: TestTopology): Promise<void> {
    if (exchanges.length + queues.length === 0) return;
    await this.#onChannel(async (channel) => {
      for (const { name, type } of exchanges) await channel.assertExchange(name, type);
      for (const { name, arguments: args = {}, exchange, routingKey = '' } of queues) {
        await channel.assertQueue(name, { arguments: args });
        if (exchange !== undefined) await channel.bindQueue(name, exchange, routingKey);
      }
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
      // They go back afterwards, flagged as redelivered.
      for (let message = await channel.get(name); message; message = await channel.get(name)) {
        const { exchange, routingKey, redelivered } = message.fields;
        const { headers, ...properties } = message.properties;
        const { content: body } = message;
        const table = { ...headers };
        messages.push(
          testMessageOf({ body, exchange, routingKey, redelivered, headers: table, properties }),
        );
      }
      if (messages.length > 0) channel.nackAll(true);
      return {
        ready: messageCount,
        unacknowledged: undefined,
        consumers: consumerCount,
        messages,
      };
    });
  }

  turn(): Promise<void> {
    return new Promise((resolve) => systemClock.after(TURN, resolve));
  }

  async isSettled(consumed: readonly string[]): Promise<boolean> {
    return this.#onChannel(async (channel) => {
      for (const name of consumed) {
        if ((await channel.checkQueue(name)).messageCount > 0) return false;
      }
      return true;
    });
  }

  async advance(ms: number, settle: Settle): Promise<void> {
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
