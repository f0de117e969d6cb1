import type { INestApplication, ModuleMetadata, Type } from '@nestjs/common';
import type { TestingModuleBuilder } from '@nestjs/testing';
import type { ConsumeMessage, MessageFields, Options } from 'amqplib';
import { inject } from 'vitest';
import type { AppParts, TestApp } from './start-app';

declare module 'vitest' {
  export interface ProvidedContext {
    /** What the specs of test/behaviour run on. */
    environment: 'memory' | 'rabbitmq';
  }
}

/** A message taken out of a queue. */
export interface TakenMessage extends Pick<ConsumeMessage, 'content' | 'properties'> {
  readonly fields: MessageFields;
}

/** A client besides the application's: publishes, inspects queues, declares. */
export interface BrokerClient {
  /** Publishes; a body that is not a Buffer is sent as JSON. */
  publish(
    exchange: string,
    routingKey: string,
    body: unknown,
    options?: Options.Publish,
  ): Promise<void>;
  send(queue: string, body: unknown, options?: Options.Publish): Promise<void>;
  declare(queue: string, options?: Pick<Options.AssertQueue, 'arguments'>): Promise<void>;
  exchange(
    name: string,
    type: 'direct' | 'topic' | 'fanout' | 'headers',
    options?: Pick<Options.AssertExchange, 'autoDelete'>,
  ): Promise<void>;
  bind(queue: string, exchange: string, key: string): Promise<void>;
  delete(queue: string): Promise<void>;
  /** The number of ready messages; `undefined` if the queue does not exist. */
  ready(queue: string): Promise<number | undefined>;
  /** The number of consumers of a queue. */
  consumers(queue: string): Promise<number>;
  /** Takes the next message out of a queue, waiting for it. */
  take(queue: string, timeoutMs?: number): Promise<TakenMessage>;
  /** Waits until a queue has so many ready messages. */
  waitForReady(queue: string, count: number, timeoutMs?: number): Promise<void>;
}

/** What the specs of test/behaviour run on: a RabbitMQ server, or the in-memory broker. */
export interface Environment {
  /** Version of the server, real or imitated: `4.3.6` for example. */
  readonly version: string;
  /** The URL of the server; in memory one to which nothing connects. */
  readonly url: string;
  /** Starts an application; it is closed after the test. */
  startApp(parts: AppParts): Promise<TestApp>;
  /** Creates an application; the caller initialises and closes it. */
  createApp(module: Type): Promise<INestApplication>;
  /** A builder of Nest's testing module whose connections lead to the broker. */
  testingModule(metadata: ModuleMetadata): TestingModuleBuilder;
  /** A client for a test file, closed after it. */
  openBroker(): Promise<BrokerClient>;
}

const { environment } =
  inject('environment') === 'memory'
    ? await import('./memory-environment')
    : await import('./rabbitmq-environment');

export const { url, startApp, createApp, testingModule, openBroker }: Environment = environment;
export { unique } from './names';
