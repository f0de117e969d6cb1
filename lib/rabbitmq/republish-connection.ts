import type {
  PublishResult,
  RepublishTransport,
  WriteOptions,
  WrittenPublish,
} from '../amqp/republish-transport';
import type { TopologyClient } from '../amqp/topology-client';
import type { WriteLimits } from '../amqp/writable-message';
import { type Clock, countdown, within } from '../clock';
import type { OutgoingMessage } from '../delivery/republish';
import { texts } from '../log/texts';
import { connectionErrorOf } from './connection-error';
import type { ReplyLimits } from './pending-publishes';
import { RepublishChannel } from './republish-channel';
import { topologyClientOf } from './scratch-channel';
import type { SecondConnection } from './second-connection';
import { Turns } from './turns';
import type { RawConnection } from './types';

/** A body from this size on is published on a channel of its own: the server can find it too large. */
const LARGE_BODY = 1024 * 1024;
/** How long closing a connection for one message may take, in ms. */
const CLOSING_LIMIT = 1_000;
/** amqplib encodes a header table into a buffer of this size, in bytes. */
const LARGEST_HEADER_TABLE = 65_536;
/** The frame that RabbitMQ agrees to by default, in bytes. */
const DEFAULT_FRAME = 131_072;

type MakeMessage = (limits: WriteLimits) => OutgoingMessage;

/** The confirm channel that all small messages of one connection share. */
interface SharedChannel {
  readonly connection: RawConnection;
  readonly opening: Promise<RepublishChannel>;
  /** `undefined` while it opens. */
  channel?: RepublishChannel;
}

/**
 * Publishes on a connection of its own: under a memory alarm the broker stops reading every connection
 * that has published, acknowledgements included, so nothing is ever published where deliveries are
 * settled. One confirm channel, a new one when the last has closed or refused a message, or when the connection leads elsewhere;
 * another for each large body; and a connection for each message over which the broker can close one, one
 * at a time.
 */
export class RepublishConnection implements RepublishTransport {
  readonly #turns: Turns;
  #shared: SharedChannel | undefined;
  #alone: SecondConnection | undefined;

  /** @param open makes another connection like the first. */
  constructor(
    private readonly connection: SecondConnection,
    private readonly open: () => SecondConnection,
    private readonly clock: Clock,
  ) {
    this.#turns = new Turns(clock);
  }

  get isBlocked(): boolean {
    return this.connection.isBlocked;
  }

  async topology(limitMs: number): Promise<TopologyClient> {
    return topologyClientOf(await this.connection.raw(limitMs));
  }

  async write(
    queue: string,
    message: MakeMessage,
    { limitMs, isAlone, lost }: WriteOptions,
  ): Promise<WrittenPublish> {
    const left = countdown(this.clock, limitMs);
    if (isAlone) return this.#writeAlone(queue, message, left, lost);
    const raw = this.connection.current ?? (await this.connection.raw(limitMs));
    const made = message(limitsOf(raw));
    if (made.body.length < LARGE_BODY) {
      const channel = await this.#sharedChannel(raw, left);
      const result = channel.publish(queue, made, { limitMs: left(), lost });
      return { result, end: () => {} };
    }
    const channel = await this.#ownChannel(raw, left);
    const result = channel.publish(queue, made, { limitMs: left(), lost });
    return { result, end: () => void channel.close() };
  }

  writeAtOnce(
    queue: string,
    message: MakeMessage,
    limits: ReplyLimits,
  ): Promise<PublishResult> | undefined {
    const raw = this.connection.current;
    const shared = this.#shared;
    if (raw === undefined || shared?.connection !== raw || !shared.channel?.isUsable)
      return undefined;
    const made = message(limitsOf(raw));
    return made.body.length < LARGE_BODY ? shared.channel.publish(queue, made, limits) : undefined;
  }

  /** Closes channel and connections within `limitMs`; what is unconfirmed becomes unknown. Never rejects. */
  async close(limitMs: number): Promise<void> {
    void this.#shared?.channel?.close();
    await Promise.all([this.connection.close(limitMs), this.#alone?.close(limitMs)]);
  }

  async #writeAlone(
    queue: string,
    message: MakeMessage,
    left: () => number,
    lost: AbortSignal,
  ): Promise<WrittenPublish> {
    const endTurn = await this.#turns.take(left(), lost);
    if (endTurn === undefined) throw new Error(texts.noTimeToRepublish);
    const connection = this.open();
    this.#alone = connection;
    const end = (): void => {
      void connection.close(CLOSING_LIMIT).then(endTurn);
    };
    try {
      const raw = await connection.raw(left());
      const channel = await this.#ownChannel(raw, left);
      const limits = { limitMs: left(), lost };
      return { result: channel.publish(queue, message(limitsOf(raw)), limits), end };
    } catch (error) {
      end();
      throw error;
    }
  }

  async #sharedChannel(connection: RawConnection, left: () => number): Promise<RepublishChannel> {
    let shared = this.#shared;
    const isUsable = shared?.connection === connection && shared.channel?.isUsable !== false;
    if (shared === undefined || !isUsable) shared = this.#openShared(connection);
    return shared.channel ?? this.#inTime(shared.opening, left);
  }

  #openShared(connection: RawConnection): SharedChannel {
    const opening = this.#openChannel(connection, false).then((channel) => {
      shared.channel = channel;
      return channel;
    });
    const shared: SharedChannel = { connection, opening };
    this.#shared = shared;
    opening.catch(() => {
      if (this.#shared === shared) this.#shared = undefined;
    });
    return shared;
  }

  async #ownChannel(connection: RawConnection, left: () => number): Promise<RepublishChannel> {
    const opening = this.#openChannel(connection, true);
    try {
      return await this.#inTime(opening, left);
    } catch (error) {
      opening.then((channel) => channel.close()).catch(() => undefined); // It can open late.
      throw error;
    }
  }

  // The broker does not reply on a connection that it blocks.
  async #inTime(opening: Promise<RepublishChannel>, left: () => number): Promise<RepublishChannel> {
    if (await within(this.clock, left(), opening)) return opening;
    throw new Error(texts.noChannelInTime);
  }

  async #openChannel(raw: RawConnection, isAlone: boolean): Promise<RepublishChannel> {
    const options = { isAlone, connectionError: connectionErrorOf(raw) };
    return new RepublishChannel(await raw.createConfirmChannel(), options, this.clock);
  }
}

function limitsOf(raw: RawConnection): WriteLimits {
  // The typings of amqplib do not have it; 0 means no limit.
  const { frameMax } = raw.connection as unknown as { readonly frameMax?: unknown };
  const frame = typeof frameMax === 'number' && frameMax > 0 ? frameMax : DEFAULT_FRAME;
  return { frame, headerTable: LARGEST_HEADER_TABLE };
}
