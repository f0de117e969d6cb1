import { type Channel, type ConfirmChannel, connect, type GetMessage, type Options } from 'amqplib';
import { afterAll, inject } from 'vitest';
import { eventually } from './eventually';
import { uniqueNames } from './names';
import { managementFrom } from './server/find-server.mjs';
import type { Management } from './server/management.mjs';

/**
 * Socket options of a connection. By default opening and closing one waits 40 ms for the delayed
 * acknowledgement of a segment, which adds up to minutes over all tests.
 */
export const withoutNagle = { noDelay: true } as const;

export { unique } from './names';

/** The URL of the server of this test run. */
export const url: string = inject('rabbitmq').url;

/** The management API of the server of this test run; using it fails if there is none. */
export const management: Management = managementFrom(inject('rabbitmq')) ?? noManagement();

function noManagement(): Management {
  const refuse = (): never => {
    throw new Error('this test needs RABBITMQ_MANAGEMENT_URL in addition to RABBITMQ_URL');
  };
  return new Proxy({} as Management, { get: refuse });
}

// A node slows down with every queue that tests leave behind, quorum queues above all.
async function deleteQueues(broker: Broker): Promise<void> {
  const isOurs = (queue: string): boolean => uniqueNames().some((name) => queue.startsWith(name));
  try {
    const left = (await management.queues()).map(({ name }) => name).filter(isOurs);
    await broker.channel((channel) => Promise.all(left.map((name) => channel.deleteQueue(name))));
  } catch {
    // Without the management API, or if the server is down, they stay.
  }
}

/** A raw connection besides the application's: publishes, inspects queues, declares. */
export class Broker {
  readonly #model: Awaited<ReturnType<typeof connect>>;
  readonly #confirms: ConfirmChannel;

  private constructor(model: Awaited<ReturnType<typeof connect>>, confirms: ConfirmChannel) {
    this.#model = model;
    this.#confirms = confirms;
  }

  static async connect(to = url): Promise<Broker> {
    const model = await connect(to, withoutNagle);
    model.on('error', () => undefined);
    const confirms = await model.createConfirmChannel();
    confirms.on('error', () => undefined);
    return new Broker(model, confirms);
  }

  /** Publishes and waits for the confirm. A body that is not a Buffer is sent as JSON. */
  async publish(
    exchange: string,
    routingKey: string,
    body: unknown,
    options: Options.Publish = {},
  ): Promise<void> {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    await new Promise<void>((resolve, reject) => {
      this.#confirms.publish(exchange, routingKey, bytes, options, (error: unknown) =>
        error ? reject(error as Error) : resolve(),
      );
    });
  }

  async send(queue: string, body: unknown, options: Options.Publish = {}): Promise<void> {
    await this.publish('', queue, body, options);
  }

  /** Works on a channel of its own. */
  async channel<T>(work: (channel: Channel) => Promise<T>): Promise<T> {
    const channel = await this.#model.createChannel();
    let failed = false;
    channel.on('error', () => {
      failed = true;
    });
    try {
      return await work(channel);
    } finally {
      if (!failed) await channel.close().catch(() => undefined);
    }
  }

  async declare(queue: string, options: Options.AssertQueue = {}): Promise<void> {
    await this.channel((channel) => channel.assertQueue(queue, options));
  }

  async exchange(name: string, type: string, options: Options.AssertExchange = {}): Promise<void> {
    await this.channel((channel) => channel.assertExchange(name, type, options));
  }

  async bind(queue: string, exchange: string, key: string, args?: object): Promise<void> {
    await this.channel((channel) => channel.bindQueue(queue, exchange, key, args));
  }

  async delete(queue: string): Promise<void> {
    await this.channel((channel) => channel.deleteQueue(queue));
  }

  /** The number of ready messages; `undefined` if the queue does not exist. */
  async ready(queue: string): Promise<number | undefined> {
    try {
      return (await this.channel((channel) => channel.checkQueue(queue))).messageCount;
    } catch {
      return undefined;
    }
  }

  /** The number of consumers of a queue. */
  async consumers(queue: string): Promise<number> {
    return (await this.channel((channel) => channel.checkQueue(queue))).consumerCount;
  }

  /** Takes the next message out of a queue, waiting for it. */
  async take(queue: string, timeoutMs = 10_000): Promise<GetMessage> {
    return eventually(
      async () => {
        const message = await this.channel((channel) => channel.get(queue, { noAck: true }));
        if (message === false) throw new Error(`queue "${queue}" is empty`);
        return message;
      },
      { timeoutMs },
    );
  }

  /** Takes all ready messages out of a queue. */
  async drain(queue: string): Promise<readonly GetMessage[]> {
    return this.channel(async (channel) => {
      const taken: GetMessage[] = [];
      for (;;) {
        const message = await channel.get(queue, { noAck: true });
        if (message === false) return taken;
        taken.push(message);
      }
    });
  }

  /** Waits until a queue has so many ready messages. */
  async waitForReady(queue: string, count: number, timeoutMs = 10_000): Promise<void> {
    await eventually(
      async () => {
        const ready = await this.ready(queue);
        if (ready !== count)
          throw new Error(`queue "${queue}" has ${ready} ready messages, not ${count}`);
      },
      { timeoutMs },
    );
  }

  async close(): Promise<void> {
    await this.#model.close().catch(() => undefined);
  }
}

/** A raw connection for a test file, closed after it. */
export async function openBroker(): Promise<Broker> {
  const broker = await Broker.connect();
  afterAll(async () => {
    await deleteQueues(broker);
    await broker.close();
  });
  return broker;
}
