import type { PublishResult, RepublishTransport } from '../amqp/republisher';
import type { TopologyClient } from '../amqp/topology-client';
import type { OutgoingMessage } from '../delivery/republish';
import { RepublishChannel } from './republish-channel';
import { topologyClientOf } from './scratch-channel';
import type { SecondConnection } from './second-connection';

/**
 * Publishes on a connection of its own: under a memory alarm the broker stops reading every connection
 * that has published, acknowledgements included, so nothing is ever published where deliveries are
 * settled. One confirm channel; a new one when the last has closed.
 */
export class RepublishConnection implements RepublishTransport {
  #channel: RepublishChannel | undefined;
  #opening: Promise<RepublishChannel> | undefined;

  constructor(private readonly connection: SecondConnection) {}

  get isBlocked(): boolean {
    return this.connection.isBlocked;
  }

  async topology(limitMs: number): Promise<TopologyClient> {
    return topologyClientOf(await this.connection.raw(limitMs));
  }

  async publish(queue: string, message: OutgoingMessage, limitMs: number): Promise<PublishResult> {
    const channel = this.#channel?.isOpen ? this.#channel : await this.#open(limitMs);
    return channel.publish(queue, message);
  }

  /** Closes channel and connection within `limitMs`; what is unconfirmed becomes unknown. Never rejects. */
  async close(limitMs: number): Promise<void> {
    void this.#channel?.close();
    await this.connection.close(limitMs);
  }

  #open(limitMs: number): Promise<RepublishChannel> {
    const open = async (): Promise<RepublishChannel> => {
      const raw = await this.connection.raw(limitMs);
      this.#channel = new RepublishChannel(await raw.createConfirmChannel());
      return this.#channel;
    };
    this.#opening ??= open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }
}
