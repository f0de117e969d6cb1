import { EventEmitter } from 'node:events';
import type { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import type { IncomingMessage } from '../../../lib/model/delivery';
import type { RawChannel, RawConfirmChannel, RawConnection } from '../../../lib/rabbitmq/types';

/** A sent method and its arguments. */
export type Sent = readonly [method: string, ...values: unknown[]];

type Consumer = (message: IncomingMessage | null) => void;

interface Settled {
  readonly fields: { readonly deliveryTag: number };
}

/** amqplib's channel without a broker: records what is sent, and throws once it is closed. */
export class FakeChannel extends EventEmitter {
  readonly sent: Sent[] = [];
  /** The messages given to `ack`, `nack` and `reject`. */
  readonly settled: Settled[] = [];
  /** The confirm callbacks of publishes. */
  readonly confirms: ((error: unknown) => void)[] = [];
  consumer: Consumer = () => undefined;
  /** What the calls of a method await or reject with, by method. */
  readonly answers = new Map<string, () => Promise<unknown>>();
  isOpen = true;

  get asRaw(): RawChannel & RawConfirmChannel {
    return this as unknown as RawChannel & RawConfirmChannel;
  }

  ack = (message: Settled, multiple: boolean): void => this.#settle('ack', message, multiple);
  nack = (message: Settled, multiple: boolean, requeue: boolean): void =>
    this.#settle('nack', message, multiple, requeue);
  reject = (message: Settled, requeue: boolean): void => this.#settle('reject', message, requeue);
  prefetch = (count: number): Promise<void> => this.#call('prefetch', count);
  cancel = (tag: string): Promise<void> => this.#call('cancel', tag);

  async assertQueue(queue: string, options: object): Promise<object> {
    await this.#call('assertQueue', queue, options);
    return { queue };
  }

  async checkQueue(queue: string): Promise<object> {
    await this.#call('checkQueue', queue);
    return { queue };
  }

  async consume(queue: string, consumer: Consumer, options: object): Promise<object> {
    this.consumer = consumer;
    await this.#call('consume', queue, options);
    return { consumerTag: 'tag' };
  }

  publish(
    exchange: string,
    key: string,
    body: Buffer,
    options: object,
    confirmed: (error: unknown) => void,
  ): boolean {
    this.confirms.push(confirmed);
    this.#send('publish', exchange, key, body, options);
    return true;
  }

  async close(): Promise<void> {
    await this.#call('close');
    this.ends();
  }

  /** Ends the channel as the broker or the connection does. */
  ends(error?: Error): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    if (error !== undefined) this.emit('error', error);
    this.emit('close');
  }

  async #call(method: string, ...values: unknown[]): Promise<void> {
    this.#send(method, ...values);
    await this.answers.get(method)?.();
  }

  #settle(method: string, message: Settled, ...values: unknown[]): void {
    this.#send(method, message.fields.deliveryTag, ...values);
    this.settled.push(message);
  }

  #send(...sent: Sent): void {
    if (!this.isOpen) throw new Error('Channel closed');
    this.sent.push(sent);
  }
}

/** A connection with fake channels, the newest last. */
export class FakeConnection {
  readonly channels: FakeChannel[] = [];
  readonly connection = { serverProperties: { version: '3.10.8' } };
  /** Called with each channel before it is returned. */
  prepare: (channel: FakeChannel) => void = () => undefined;

  /** The channels that consume or have consumed. */
  get consuming(): FakeChannel[] {
    return this.channels.filter(({ sent }) => sent.some(([method]) => method === 'consume'));
  }

  get asRaw(): RawConnection {
    return this as unknown as RawConnection;
  }

  async createChannel(): Promise<FakeChannel> {
    const channel = new FakeChannel();
    this.prepare(channel);
    this.channels.push(channel);
    return channel;
  }
}

/** golevelup's connection: its manager, and its own channel's declarations. */
export class FakeAmqpConnection {
  readonly managedConnection = new FakeManager();
  declared: Promise<void> = Promise.resolve();
  /** How often the declarations were awaited. */
  waits = 0;
  readonly managedChannel = {
    waitForConnect: (): Promise<void> => {
      this.waits += 1;
      return this.declared;
    },
  };

  get asAmqp(): AmqpConnection {
    return this as unknown as AmqpConnection;
  }
}

class FakeManager extends EventEmitter {
  connection: FakeConnection | undefined;

  constructor() {
    super();
    this.setMaxListeners(0); // As amqp-connection-manager does.
  }

  isConnected = (): boolean => this.connection !== undefined;

  /** Connects and emits it. */
  connects(connection = new FakeConnection()): FakeConnection {
    this.connection = connection;
    this.emit('connect');
    return connection;
  }

  /** Disconnects and emits it with the reason. */
  loses(err: Error | undefined): void {
    this.connection = undefined;
    this.emit('disconnect', { err });
  }
}
