import { AmqpConnection, type RabbitMQConfig } from '@golevelup/nestjs-rabbitmq';
import type { QueueDeclaration } from '../amqp/queue-declarations';
import { texts } from '../log/texts';
import type { ExchangeTerms } from '../memory/exchanges';
import type { MemoryServer } from '../memory/memory-server';

type PublishOptions = Parameters<AmqpConnection['publish']>[3];

/**
 * The `AmqpConnection` that an application injects in a test: what it publishes goes to the server in
 * memory. It opens no socket; what needs one throws and says so.
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

  /** Publishes to the server in memory. Rejects where there is no such exchange. */
  override async publish(
    exchange: string,
    routingKey: string,
    message: unknown,
    options?: PublishOptions,
  ): Promise<boolean> {
    const merged = { ...this.configuration.defaultPublishOptions, ...options };
    this.server.publish(exchange, routingKey, {
      body: bytesOf(message, this.configuration.serializer),
      ...propertiesOf(merged),
    });
    return true;
  }

  // What the connection only checks, another service has declared: here nobody else does.
  #declare(): void {
    const { exchanges, exchangeBindings, queues, defaultExchangeType } = this.configuration;
    for (const { name, type, options } of exchanges) {
      const terms = { ...options, type: type ?? defaultExchangeType } as ExchangeTerms;
      this.server.declareExchange(name, terms);
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

/** What amqplib makes of publish options: the properties of the message, and its header table. */
export function propertiesOf(options: Readonly<Record<string, unknown>>): {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, unknown>>;
} {
  const { headers, CC, BCC, persistent, mandatory: _mandatory, ...rest } = options;
  const { deliveryMode, expiration, ...properties } = rest;
  const mode = persistent === undefined ? deliveryMode : persistent ? 2 : 1;
  return {
    properties: {
      ...properties,
      ...(mode !== undefined && { deliveryMode: mode }),
      ...(expiration !== undefined && { expiration: String(expiration) }),
    },
    headers: {
      ...(headers as object | undefined),
      ...(CC !== undefined && { CC: [CC].flat().map(String) }),
      ...(BCC !== undefined && { BCC: [BCC].flat().map(String) }),
    },
  };
}
