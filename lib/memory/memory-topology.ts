import type { TopologyClient } from '../amqp/topology-client';
import type { MemoryServer } from './memory-server';

/** The server in memory, as one connection of the application sees it. */
export interface MemoryClient {
  readonly server: MemoryServer;
  /** The connection: exclusive queues belong to it. */
  readonly owner: unknown;
}

/** Declares and checks on the server in memory; rejects with the server's error if it refuses. */
export function memoryTopologyClientOf({ server, owner }: MemoryClient): TopologyClient {
  return {
    version: server.version,
    checkQueue: async (queue) => server.queueFor(queue, owner),
    assertQueue: async (queue, declaration) => server.declareQueue(queue, declaration, owner),
    bindQueue: async (queue, exchange, routingKey, args) =>
      server.bind(queue, exchange, routingKey, args, owner),
    checkExchange: async (exchange) => server.checkExchange(exchange),
  };
}
