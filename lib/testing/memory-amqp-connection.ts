import { AmqpConnection, type RabbitMQConfig } from '@golevelup/nestjs-rabbitmq';
import type { QueueDeclaration } from '../amqp/queue-declarations';
import { texts } from '../log/texts';
import type { ExchangeDeclaration } from '../memory/exchange-properties';
import type { MemoryServer } from '../memory/memory-server';
import { requireText, sentPropertiesOf } from './publish-options';

type PublishOptions = Parameters<AmqpConnection['publish']>[3];

/**
 * The `AmqpConnection` that an application injects in a test: what it publishes goes to the server in
 * memory. It opens no socket; what needs one throws an error that says so.
 */
export class MemoryAmqpConnection extends AmqpConnection {
  constructor(
    config: RabbitMQConfig,
    private readonly server: MemoryServer,
  ) {
    super(config);
    this.#declare();
  }

  override async init(): Promise<void> {
    // There is nothing to connect to.
  }

  override async close(): Promise<void> {
    // There is nothing to disconnect from.
  }

  override get connected(): boolean {
    return true;
  }

  override get connection(): never {
    return notInMemory('connection');
  }

  override get channel(): never {
    return notInMemory('channel');
  }

  override get managedConnection(): never {
    return notInMemory('managedConnection');
  }

  override get managedChannel(): never {
    return notInMemory('managedChannel');
  }

  override async request(): Promise<never> {
    return notInMemory('request()');
  }

  override async createSubscriber(): Promise<never> {
    return notInMemory('createSubscriber()');
  }

  override async createBatchSubscriber(): Promise<never> {
    return notInMemory('createBatchSubscriber()');
  }

  override async createRpc(): Promise<never> {
    return notInMemory('createRpc()');
  }

  /** Publishes to the server in memory. Rejects with what amqplib throws or the server replies. */
  override async publish(
    exchange: string,
    routingKey: string,
    message: unknown,
    options?: PublishOptions,
  ): Promise<boolean> {
    const merged = { ...this.configuration.defaultPublishOptions, ...options };
    const published = {
      body: bytesOf(message, this.configuration.serializer),
      ...sentPropertiesOf(merged),
    };
    const key = requireText('routingKey', routingKey);
    this.server.publish(requireText('exchange', exchange), key, published, this.#user);
    return true;
  }

  get #user(): string {
    const [uri] = [this.configuration.uri].flat();
    return userOf(uri) ?? 'guest';
  }

  // Also what the connection only checks: nobody else declares it here.
  #declare(): void {
    const { exchanges, exchangeBindings, queues, defaultExchangeType } = this.configuration;
    for (const { name, type, options } of exchanges) {
      const declaration = { ...options, type: type ?? defaultExchangeType } as ExchangeDeclaration;
      this.server.declareExchange(name, declaration);
    }
    for (const { destination, source, pattern, args } of exchangeBindings) {
      this.server.bindExchange(destination, source, pattern, args);
    }
    for (const { name, options, exchange, routingKey = '', bindQueueArguments } of queues) {
      const declaration = { ...options, arguments: { ...options?.arguments } };
      this.server.declareQueue(name, declaration as QueueDeclaration, this);
      for (const key of exchange === undefined ? [] : [routingKey].flat()) {
        this.server.bind(name, exchange ?? '', key, bindQueueArguments, this);
      }
    }
  }
}

function notInMemory(what: string): never {
  throw new Error(texts.notInMemory(what));
}

function bytesOf(message: unknown, serialize: (value: unknown) => Buffer): Buffer {
  if (message instanceof Uint8Array) return Buffer.from(message);
  return message === undefined || message === null ? Buffer.alloc(0) : serialize(message);
}

function userOf(uri: unknown): string | undefined {
  if (typeof uri === 'object' && uri !== null) return Reflect.get(uri, 'username') as string;
  try {
    return decodeURIComponent(new URL(String(uri)).username) || undefined;
  } catch {
    return undefined; // A test's connection may have any URI: it connects to nothing.
  }
}
