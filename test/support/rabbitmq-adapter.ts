import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
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
  const [major = 0, minor = 0] = (await management.version()).split('.').map(Number);
  return {
    connection: new GolevelupConnection(application, systemClock),
    countsUnprocessed: major < 4 || (major === 4 && minor < 3),
    declareExchange: (name, type) => broker.exchange(name, type),
    declareQueue: (name, args) => broker.declare(name, { arguments: args }),
    bind: (queue, exchange, key, args) => broker.bind(queue, exchange, key, args),
    publish: (exchange, key, body, properties) => broker.publish(exchange, key, body, properties),
    messages: (queue) => peek(broker, queue),
    deleteQueue: (queue) => broker.delete(queue),
    loseConnections: async () => {
      const port = localPortOf(application);
      await management.closeConnections(({ peerPort }) => peerPort === port);
    },
    pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    close: async () => {
      await application.close();
      await broker.close();
    },
  };
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
