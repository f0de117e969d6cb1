import type { BrokerConnection } from '../../lib/amqp/connection';
import type { ServerVersion } from '../../lib/amqp/queue-declarations';
import type { Clock } from '../../lib/clock';
import type { TestMessage, TestProperties } from '../../lib/testing/test-settlement';

export interface QueueOptions {
  readonly durable?: boolean;
  readonly exclusive?: boolean;
  readonly autoDelete?: boolean;
}

export interface ExchangeOptions {
  readonly durable?: boolean;
  readonly autoDelete?: boolean;
  readonly internal?: boolean;
  readonly alternateExchange?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/**
 * What the conformance suite needs of an adapter under test: the port itself, and a way to inspect and
 * disturb the broker behind it.
 */
export interface ConformanceAdapter {
  /** The clock that `pass` moves. */
  readonly clock: Clock;
  /** The connection whose broker is under test. */
  readonly connection: BrokerConnection;
  /** Whether `requeueUnprocessed` counts as an attempt on a quorum queue, as on RabbitMQ before 4.3. */
  readonly countsUnprocessed: boolean;
  /** The version of the server, or the one that is imitated. */
  readonly version: ServerVersion;
  /** Rejects with the server's refusal. */
  declareExchange(name: string, type: string, options?: ExchangeOptions): Promise<void>;
  /** Declares a queue with these arguments, durable by default. Rejects with the server's refusal. */
  declareQueue(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options?: QueueOptions,
  ): Promise<void>;
  /** Rejects with the server's refusal. */
  bind(
    queue: string,
    exchange: string,
    routingKey: string,
    args?: Readonly<Record<string, unknown>>,
  ): Promise<void>;
  /**
   * Publishes; resolves, for a message that is routed, with whether its queues took it. Rejects with the
   * refusal of the client or the server.
   */
  publish(
    exchange: string,
    routingKey: string,
    body: Buffer,
    properties: TestProperties,
  ): Promise<boolean>;
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
