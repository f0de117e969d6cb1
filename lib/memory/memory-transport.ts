import { decodedTable } from '../amqp/header-table';
import { replyCodeOf } from '../amqp/refusal';
import type {
  PublishResult,
  RepublishTransport,
  WriteOptions,
  WrittenPublish,
} from '../amqp/republish-transport';
import type { TopologyClient } from '../amqp/topology-client';
import type { WriteLimits } from '../amqp/writable-message';
import { type Clock, resultWithin } from '../clock';
import { SettleHeaders } from '../delivery/headers';
import type { OutgoingMessage } from '../delivery/republish';
import { type MemoryClient, memoryTopologyClientOf } from './memory-topology';

/** What a client of RabbitMQ can write. */
const LIMITS: WriteLimits = { frame: 131_072, headerTable: 65_536 };
const NO_ROUTE = 312;

/** Publishes on the server in memory, which is never blocked and always connected. */
export class MemoryTransport implements RepublishTransport {
  readonly isBlocked = false;
  #published = 0;

  constructor(
    private readonly client: MemoryClient,
    private readonly clock: Clock,
  ) {}

  async topology(): Promise<TopologyClient> {
    return memoryTopologyClientOf(this.client);
  }

  async write(
    queue: string,
    message: (limits: WriteLimits) => OutgoingMessage,
    options: WriteOptions,
  ): Promise<WrittenPublish> {
    return { result: this.writeAtOnce(queue, message, options), end: () => {} };
  }

  async writeAtOnce(
    queue: string,
    message: (limits: WriteLimits) => OutgoingMessage,
    { limitMs, lost }: Pick<WriteOptions, 'limitMs' | 'lost'>,
  ): Promise<PublishResult> {
    const publishing = this.#publish(queue, message(LIMITS));
    const result = await resultWithin(this.clock, limitMs, publishing, lost);
    return result ?? { status: 'unconfirmed' };
  }

  async #publish(queue: string, message: OutgoingMessage): Promise<PublishResult> {
    this.#published += 1;
    const headers = decodedTable(message.headers);
    headers[SettleHeaders.publishId] = this.#published;
    try {
      const status = await this.client.server.confirm(queue, { ...message, headers });
      if (status !== 'returned') return { status };
      return { status, replyCode: NO_ROUTE, replyText: 'NO_ROUTE' };
    } catch (error) {
      const isRefused = replyCodeOf(error) !== undefined;
      return isRefused
        ? { status: 'closed', error, isAlone: true }
        : { status: 'unencodable', error };
    }
  }
}
