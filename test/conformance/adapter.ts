import type { BrokerConnection } from '../../lib/amqp/connection';
import type { TestMessage, TestProperties } from '../../lib/testing/test-settlement';

/**
 * What the conformance suite needs of an adapter under test: the port itself, and a way to inspect and
 * disturb the broker behind it.
 */
export interface ConformanceAdapter {
  /** The connection whose broker is under test. */
  readonly connection: BrokerConnection;
  /** Whether `requeueUnprocessed` counts as an attempt on a quorum queue, as on RabbitMQ before 4.3. */
  readonly countsUnprocessed: boolean;
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
  /** The ready messages of a queue, which stay there; `undefined` if there is no such queue. */
  messages(queue: string): Promise<readonly TestMessage[] | undefined>;
  deleteQueue(queue: string): Promise<void>;
  /** Closes the connection of every consumer; it may reconnect by itself. */
  loseConnections(): Promise<void>;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** One behaviour of every adapter. */
export interface ConformanceScenario {
  /** A sentence. */
  readonly name: string;
  /** Rejects if the adapter behaves differently. The adapter is new, and closed by the caller. */
  run(adapter: ConformanceAdapter): Promise<void>;
}
