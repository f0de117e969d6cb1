import type { PublishResult, RepublishTransport } from '../amqp/republisher';
import type { TopologyClient } from '../amqp/topology-client';
import { SettleHeaders } from '../delivery/headers';
import type { OutgoingMessage } from '../delivery/republish';
import { type MemoryClient, memoryTopologyClientOf } from './memory-topology';

/** Publishes on the server in memory, which is never blocked and always connected. */
export class MemoryTransport implements RepublishTransport {
  readonly isBlocked = false;
  #published = 0;

  constructor(private readonly client: MemoryClient) {}

  async topology(): Promise<TopologyClient> {
    return memoryTopologyClientOf(this.client);
  }

  async publish(queue: string, message: OutgoingMessage): Promise<PublishResult> {
    this.#published += 1;
    const headers = { ...message.headers, [SettleHeaders.publishId]: this.#published };
    return this.client.server.confirm(queue, { ...message, headers });
  }
}
