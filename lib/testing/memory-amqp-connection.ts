import { AmqpConnection, type RabbitMQConfig } from '@golevelup/nestjs-rabbitmq';
import type { QueueDeclaration } from '../broker/queue-declarations';
import type { MemoryServer } from '../memory/memory-server';
import type { ExchangeType } from '../memory/routing';
import { messages } from '../outcome/messages';

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

  override get connected(): boolean {
    return true;
  }

  override get managedConnection(): never {
    throw new Error(messages.notInMemory('managedConnection'));
  }

  override get managedChannel(): never {
    throw new Error(messages.notInMemory('managedChannel'));
  }

  override request<T>(): Promise<T> {
    return Promise.reject(new Error(messages.notInMemory('request()')));
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

  #declare(): void {
    const { exchanges, exchangeBindings, queues, defaultExchangeType } = this.configuration;
    for (const { name, type } of exchanges) {
      this.server.declareExchange(name, (type ?? defaultExchangeType) as ExchangeType);
    }
    for (const { destination, source, pattern, args } of exchangeBindings) {
      this.server.bindExchange(destination, source, pattern, args);
    }
    for (const { name, options, exchange, routingKey = '', bindQueueArguments } of queues) {
      const declaration = { ...options, arguments: { ...options?.arguments } };
      this.server.declareQueue(name, declaration as QueueDeclaration);
      for (const key of exchange === undefined ? [] : [routingKey].flat()) {
        this.server.bind(name, exchange ?? '', key, bindQueueArguments);
      }
    }
  }
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
  const mode = persistent === undefined ? rest['deliveryMode'] : persistent ? 2 : 1;
  const { deliveryMode: _deliveryMode, ...properties } = rest;
  return {
    properties: { ...properties, ...(mode !== undefined && { deliveryMode: mode }) },
    headers: {
      ...(headers as object | undefined),
      ...(CC !== undefined && { CC: [CC].flat().map(String) }),
      ...(BCC !== undefined && { BCC: [BCC].flat().map(String) }),
    },
  };
}
