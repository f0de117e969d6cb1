import type { QueueDeclaration, ServerVersion } from './queue-declarations';

/**
 * Declares and checks on one broker. Each call stands alone: one that the broker refuses rejects with the
 * broker's error, reply code included, and harms no other.
 */
export interface TopologyClient {
  readonly version: ServerVersion;
  checkQueue(queue: string): Promise<unknown>;
  /** Resolves with the queue's name, also if the broker chose it. */
  assertQueue(queue: string, declaration: QueueDeclaration): Promise<string>;
  bindQueue(
    queue: string,
    exchange: string,
    routingKey: string,
    args: Readonly<Record<string, unknown>> | undefined,
  ): Promise<unknown>;
  checkExchange(exchange: string): Promise<unknown>;
}
