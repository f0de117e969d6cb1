import type { PublishResult, RepublishTransport } from '../amqp/republisher';
import type { TopologyClient } from '../amqp/topology-client';
import type { OutgoingMessage } from '../delivery/republish';
import { RepublishChannel } from './republish-channel';
import { topologyClientOf } from './scratch-channel';
import type { SecondConnection } from './second-connection';
import type { RawConnection } from './types';

/** The confirm channel of one connection. */
interface ConfirmChannel {
  readonly connection: RawConnection;
  readonly opening: Promise<RepublishChannel>;
  /** `undefined` while it opens. */
  channel?: RepublishChannel;
}

/**
 * Publishes on a connection of its own: under a memory alarm the broker stops reading every connection
 * that has published, acknowledgements included, so nothing is ever published where deliveries are
 * settled. One confirm channel; a new one when the last has closed, or when the connection leads elsewhere.
 */
export class RepublishConnection implements RepublishTransport {
  #confirms: ConfirmChannel | undefined;

  constructor(private readonly connection: SecondConnection) {}

  get isBlocked(): boolean {
    return this.connection.isBlocked;
  }

  async topology(limitMs: number): Promise<TopologyClient> {
    return topologyClientOf(await this.connection.raw(limitMs));
  }

  async publish(queue: string, message: OutgoingMessage, limitMs: number): Promise<PublishResult> {
    const raw = this.connection.current ?? (await this.connection.raw(limitMs));
    let confirms = this.#confirms;
    const isUsable = confirms?.connection === raw && confirms.channel?.isOpen !== false;
    if (confirms === undefined || !isUsable) confirms = this.#open(raw);
    const channel = confirms.channel ?? (await confirms.opening);
    return channel.publish(queue, message);
  }

  /** Closes channel and connection within `limitMs`; what is unconfirmed becomes unknown. Never rejects. */
  async close(limitMs: number): Promise<void> {
    void this.#confirms?.channel?.close();
    await this.connection.close(limitMs);
  }

  #open(connection: RawConnection): ConfirmChannel {
    const opening = connection.createConfirmChannel().then((raw) => {
      confirms.channel = new RepublishChannel(raw);
      return confirms.channel;
    });
    const confirms: ConfirmChannel = { connection, opening };
    this.#confirms = confirms;
    opening.catch(() => {
      if (this.#confirms === confirms) this.#confirms = undefined;
    });
    return confirms;
  }
}
