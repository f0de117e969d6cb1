import { systemClock } from '../../lib/clock';
import { MemoryChannel } from '../../lib/memory/memory-channel';
import type { MemoryServer } from '../../lib/memory/memory-server';
import { sentPropertiesOf } from '../../lib/testing/publish-options';
import type { BrokerClient, TakenMessage } from './environment';
import { eventually } from './eventually';

/** A client of the in-memory broker. */
export class MemoryClient implements BrokerClient {
  constructor(private readonly server: MemoryServer) {}

  async publish(
    exchange: string,
    routingKey: string,
    body: unknown,
    options: object = {},
  ): Promise<void> {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    this.server.publish(exchange, routingKey, { body: bytes, ...sentPropertiesOf({ ...options }) });
  }

  send(queue: string, body: unknown, options: object = {}): Promise<void> {
    return this.publish('', queue, body, options);
  }

  async declare(
    queue: string,
    options: { readonly arguments?: Readonly<Record<string, unknown>> } = {},
  ): Promise<void> {
    this.server.declareQueue(queue, { arguments: { ...options.arguments } });
  }

  async exchange(name: string, type: 'direct' | 'topic' | 'fanout' | 'headers'): Promise<void> {
    this.server.declareExchange(name, type);
  }

  async bind(queue: string, exchange: string, key: string): Promise<void> {
    this.server.bind(queue, exchange, key);
  }

  async delete(queue: string): Promise<void> {
    this.server.deleteQueue(queue);
  }

  async ready(queue: string): Promise<number | undefined> {
    return this.server.hasQueue(queue) ? this.server.queue(queue).ready.length : undefined;
  }

  async consumers(queue: string): Promise<number> {
    return this.server.queue(queue).consumerCount;
  }

  async take(queue: string, timeoutMs = 10_000): Promise<TakenMessage> {
    await eventually(
      async () => {
        if (!(await this.ready(queue))) throw new Error(`queue "${queue}" is empty`);
      },
      { timeoutMs },
    );
    return new Promise((resolve, reject) => {
      const listener = {
        delivered: (message: TakenMessage, channel: MemoryChannel): void => {
          resolve(message);
          channel.close();
        },
        closed: reject,
      };
      const options = { prefetch: 1, noAck: true };
      new MemoryChannel(this.server.queue(queue), options, listener, systemClock).consume();
    });
  }

  async waitForReady(queue: string, count: number, timeoutMs = 10_000): Promise<void> {
    await eventually(
      async () => {
        const ready = await this.ready(queue);
        if (ready !== count) {
          throw new Error(`queue "${queue}" has ${ready} ready messages, not ${count}`);
        }
      },
      { timeoutMs },
    );
  }
}
