import type { BrokerConnection } from '../../lib/amqp/connection';
import type { TestMessage, TestProperties } from '../../lib/testing/test-settlement';

/**
 * What the conformance suite needs of an adapter under test: the port itself, and a way to see and to
 * disturb what is behind it.
 * @publicApi
 */
export interface ConformanceAdapter {
  /** The connection whose broker is under test. */
  readonly connection: BrokerConnection;
  /** Whether `release` costs an attempt on a queue that counts, as on RabbitMQ before 4.3. */
  readonly countsReleases: boolean;
  declareExchange(name: string, type: 'direct' | 'topic' | 'fanout' | 'headers'): Promise<void>;
  /** Declares a durable queue with these arguments. */
  declareQueue(name: string, args: Readonly<Record<string, unknown>>): Promise<void>;
  bind(
    queue: string,
    exchange: string,
    routingKey: string,
    args?: Readonly<Record<string, unknown>>,
  ): Promise<void>;
  publish(
    exchange: string,
    routingKey: string,
    body: Buffer,
    properties: TestProperties,
  ): Promise<void>;
  /** The ready messages of a queue, left where they are; `undefined` where there is no such queue. */
  messages(queue: string): Promise<readonly TestMessage[] | undefined>;
  deleteQueue(queue: string): Promise<void>;
  /** Takes the connection of every consumer away; it may come back by itself. */
  loseConnections(): Promise<void>;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * One thing that every adapter does.
 * @publicApi
 */
export interface ConformanceScenario {
  /** A sentence. */
  readonly name: string;
  /** Rejects where the adapter does otherwise. The adapter is fresh, and closed by the caller. */
  run(adapter: ConformanceAdapter): Promise<void>;
}
