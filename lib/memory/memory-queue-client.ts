import type { QueueClient, QueueCounts, QueueSession, SessionLimits } from '../amqp/queue-client';
import type { ServerVersion } from '../amqp/queue-declarations';
import type { RepublishTransport } from '../amqp/republish-transport';
import type { Clock } from '../clock';
import { MemoryQueueSession } from './memory-queue-session';
import type { MemoryClient } from './memory-topology';
import { MemoryTransport } from './memory-transport';

/** A client of the server in memory for one task. */
export class MemoryQueueClient implements QueueClient {
  readonly transport: RepublishTransport;
  readonly #sessions: MemoryQueueSession[] = [];

  constructor(
    private readonly client: MemoryClient,
    private readonly clock: Clock,
  ) {
    this.transport = new MemoryTransport(client, clock);
  }

  get version(): ServerVersion {
    return this.client.server.version;
  }

  async counts(queue: string): Promise<QueueCounts> {
    const { ready, consumerCount } = this.client.server.queueFor(queue, this.client.owner);
    return { ready: ready.length, consumers: consumerCount };
  }

  async hold(name: string, limits: SessionLimits): Promise<QueueSession> {
    const queue = this.client.server.queueFor(name, this.client.owner);
    const session = new MemoryQueueSession(queue, limits, this.clock);
    this.#sessions.push(session);
    return session;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) session.close();
  }
}
