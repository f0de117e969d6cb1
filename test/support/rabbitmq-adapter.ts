import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { type ConfirmChannel, connect, type Options } from 'amqplib';
import { systemClock } from '../../lib/clock';
import { GolevelupConnection } from '../../lib/rabbitmq/golevelup';
import { type TestMessage, testMessageOf } from '../../lib/testing/test-settlement';
import type { ConformanceAdapter } from '../conformance/adapter';
import { Broker, management, url, withoutNagle } from './broker';

const SILENT = { log: () => {}, warn: () => {}, error: () => {} };

/** The RabbitMQ adapter for the conformance suite, on the server of this test run. */
export async function rabbitAdapter(): Promise<ConformanceAdapter> {
  const application = new AmqpConnection({
    uri: [url],
    logger: SILENT,
    connectionManagerOptions: { reconnectTimeInSeconds: 0.3, connectionOptions: withoutNagle },
  });
  await application.init();
  const broker = await Broker.connect();
  const publisher = await Publisher.connect();
  const [major = 0, minor = 0] = (await management.version()).split('.').map(Number);
  return {
    clock: systemClock,
    connection: new GolevelupConnection(application, systemClock),
    countsUnprocessed: major < 4 || (major === 4 && minor < 3),
    version: [major, minor],
    declareExchange: (name, type, more) => publisher.declareExchange(name, type, more),
    declareQueue: (name, args, more) => broker.declare(name, { ...more, arguments: args }),
    bind: (queue, exchange, key, args) => broker.bind(queue, exchange, key, args),
    publish: (exchange, key, body, properties) =>
      publisher.publish(exchange, key, body, properties),
    messages: (queue) => peek(broker, queue),
    deleteQueue: (queue) => broker.delete(queue),
    loseConnections: async () => {
      const port = localPortOf(application);
      await management.closeConnections(({ peerPort }) => peerPort === port);
    },
    pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    close: async () => {
      await application.close();
      await publisher.close();
      await broker.close();
    },
  };
}

/** A connection that publishes, and rejects with what the server replies if it closes the channel. */
class Publisher {
  readonly #refused: Promise<Error>;

  private constructor(
    private readonly connection: Awaited<ReturnType<typeof connect>>,
    private readonly channel: ConfirmChannel,
  ) {
    this.#refused = new Promise((resolve) => {
      connection.on('error', resolve);
      channel.on('error', resolve);
    });
  }

  static async connect(): Promise<Publisher> {
    const connection = await connect(url, withoutNagle);
    return new Publisher(connection, await connection.createConfirmChannel());
  }

  async publish(
    exchange: string,
    key: string,
    body: Buffer,
    properties: Options.Publish,
  ): Promise<boolean> {
    const confirmed = new Promise<boolean>((resolve) => {
      this.channel.publish(exchange, key, body, properties, (error: Error | null) => {
        if (error === null) resolve(true);
        else if (error.message === 'message nacked') resolve(false);
      });
    });
    const result = await Promise.race([this.#refused, confirmed]);
    if (typeof result !== 'boolean') throw result;
    return result;
  }

  async declareExchange(name: string, type: string, more: Options.AssertExchange = {}) {
    try {
      await this.channel.assertExchange(name, type, more);
    } catch (error) {
      // The reply of a server that closes the whole connection is in the connection's error.
      throw /^Channel ended/.test((error as Error).message) ? await this.#refused : error;
    }
  }

  async close(): Promise<void> {
    await this.connection.close().catch(() => undefined);
  }
}

async function peek(broker: Broker, queue: string): Promise<readonly TestMessage[] | undefined> {
  if ((await broker.ready(queue)) === undefined) return undefined;
  return broker.channel(async (channel) => {
    const messages: TestMessage[] = [];
    for (let got = await channel.get(queue); got; got = await channel.get(queue)) {
      const { exchange, routingKey, redelivered } = got.fields;
      const { headers, ...properties } = got.properties;
      messages.push(
        testMessageOf({
          body: got.content,
          exchange,
          routingKey,
          redelivered,
          headers: { ...headers },
          properties,
        }),
      );
    }
    return messages;
  });
}

// The application's connection among those of the test run.
function localPortOf({ managedConnection }: AmqpConnection): number | undefined {
  const raw = managedConnection.connection?.connection as unknown as {
    readonly stream: { readonly localPort?: number };
  };
  return raw.stream.localPort;
}
