import type { ServerVersion } from '../../../lib/amqp/queue-declarations';
import { systemClock } from '../../../lib/clock';
import { MemoryChannel, type MemoryConsumeOptions } from '../../../lib/memory/memory-channel';
import { MemoryServer } from '../../../lib/memory/memory-server';
import { VirtualClock } from '../../../lib/memory/virtual-clock';
import type { IncomingMessage } from '../../../lib/model/delivery';

/** An in-memory server with a clock. */
export class ServerUnderTest {
  readonly clock = new VirtualClock();
  readonly server: MemoryServer;

  constructor(version: ServerVersion = [4, 3]) {
    this.server = new MemoryServer(this.clock, version);
  }

  declare(name: string, args: Record<string, unknown> = {}): void {
    this.server.declareQueue(name, { arguments: args });
  }

  send(queue: string, text: string, properties: Record<string, unknown> = {}): boolean {
    return this.server.publish('', queue, { body: Buffer.from(text), properties, headers: {} });
  }

  /** The texts of the ready messages. */
  ready(queue: string): string[] {
    return this.server.queue(queue).ready.map(({ body }) => body.toString());
  }

  /** Moves the clock and runs what becomes due. */
  async pass(ms: number): Promise<void> {
    const target = this.clock.monotonic() + ms;
    await this.turn();
    for (let next = this.clock.nextAt; next !== undefined && next <= target; ) {
      this.clock.moveTo(next);
      await this.turn();
      next = this.clock.nextAt;
    }
    this.clock.moveTo(target);
    await this.turn();
  }

  async turn(): Promise<void> {
    for (let turns = 0; turns < 2; turns += 1) {
      await new Promise<void>((resolve) => systemClock.nextTurn(resolve));
    }
  }

  /** A consumer that records its deliveries in order. */
  consume(queue: string, given: Partial<MemoryConsumeOptions> = {}): Consumer {
    const { prefetch = 10, noAck = false } = given;
    const consumer = new Consumer();
    const listener = {
      delivered: ({ content, fields, properties }: IncomingMessage) => {
        consumer.texts.push(content.toString());
        consumer.tags.push(fields.deliveryTag);
        consumer.headers.push(properties.headers);
      },
      closed: (reason: Error) => consumer.ends.push(reason.message),
    };
    const options = { prefetch, noAck, ...given };
    consumer.channel = new MemoryChannel(this.server.queue(queue), options, listener, this.clock);
    consumer.channel.consume();
    return consumer;
  }
}

export class Consumer {
  channel!: MemoryChannel;
  readonly texts: string[] = [];
  readonly tags: number[] = [];
  readonly headers: unknown[] = [];
  readonly ends: string[] = [];

  get lastTag(): number {
    return this.tags.at(-1) ?? 0;
  }
}
