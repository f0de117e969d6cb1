import {
  AmqpConnection,
  AmqpConnectionManager,
  RABBIT_CONFIG_TOKEN,
  type RabbitMQConfig,
  RabbitMQModule,
} from '@golevelup/nestjs-rabbitmq';
import type { TestingModuleBuilder } from '@nestjs/testing';
import { systemClock } from '../clock';
import { texts } from '../log/texts';
import type { Quiet, TestBroker, TestTopology } from './test-broker';
import {
  type TestMessage,
  type TestProperties,
  type TestQueue,
  testMessageOf,
} from './test-settlement';

/** How long whatever is under way gets as one turn, in ms. */
const TURN = 20;

const SILENT = { log: () => {}, error: () => {}, warn: () => {} };

/** A real server: the application connects to it as it does outside of tests, with the URL of the test. */
export class RabbitMQTestBroker implements TestBroker {
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
      // They are requeued afterwards, and are flagged as redelivered.
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

  async advance(ms: number, quiet: Quiet): Promise<void> {
    await new Promise<void>((resolve) => systemClock.after(ms, resolve));
    await quiet.wait();
  }

  close(closeApplication: () => Promise<void>): Promise<void> {
    return closeApplication();
  }

  // On the application's connection, which owns its exclusive queues, as long as that is open.
  async #onChannel<T>(work: (channel: ConfirmChannel) => Promise<T>): Promise<T> {
    const connection = this.#connection;
    const raw = connection?.connected ? connection.managedConnection.connection : undefined;
    if (raw !== undefined) return onChannelOf(raw, work);
    const own = new AmqpConnection({ uri: this.url, logger: SILENT });
    await own.init();
    try {
      return await onChannelOf(rawConnectionOf(own), work);
    } finally {
      await own.close();
    }
  }
}

type RawConnection = NonNullable<AmqpConnection['managedConnection']['connection']>;
type ConfirmChannel = Awaited<ReturnType<RawConnection['createConfirmChannel']>>;

// Rejects with the server's error if the server closes the channel.
async function onChannelOf<T>(
  connection: RawConnection,
  work: (channel: ConfirmChannel) => Promise<T>,
): Promise<T> {
  const channel = await connection.createConfirmChannel();
  let failure: Error | undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    channel.on('error', (error: Error) => {
      failure = error;
      reject(error);
    });
  });
  failed.catch(() => undefined); // The race below may have ended before.
  try {
    return await Promise.race([work(channel), failed]);
  } finally {
    if (failure === undefined) await channel.close();
  }
}

function rawConnectionOf({ managedConnection }: AmqpConnection): RawConnection {
  const raw = managedConnection.connection;
  if (raw === undefined) throw new Error(texts.noTestConnection);
  return raw;
}

// The one that golevelup's module keeps for the process, where its factory has put the connection.
function managerOfModule(): AmqpConnectionManager {
  return Reflect.get(RabbitMQModule, 'connectionManager') as AmqpConnectionManager;
}
