import type { PublishResult } from '../amqp/republish-transport';
import type { Clock } from '../clock';
import { headerOf, newHeaderTable, SettleHeaders } from '../delivery/headers';
import type { OutgoingMessage } from '../delivery/republish';
import { texts } from '../log/texts';
import { type PendingPublish, PendingPublishes, type ReplyLimits } from './pending-publishes';
import type { RawConfirmChannel } from './types';

const CONFIRMED: PublishResult = { status: 'confirmed' };

/** How the messages of a channel are published. */
export interface RepublishChannelOptions {
  /** Whether one message at a time is published on it: it closes because of that one or not at all. */
  readonly isAlone: boolean;
  /** Why the connection has closed; `undefined` if it has not, or not said why. */
  connectionError(): unknown;
}

/**
 * A confirm channel on which messages are published. A returned message, which precedes its confirm, is
 * matched to its publish by a number in a header. Every publish ends, also if amqplib forgets its callback
 * when the channel closes, and then with the reason that the broker gave.
 */
export class RepublishChannel {
  readonly #pending: PendingPublishes;
  #open = true;
  #hasRefused = false;
  #error: unknown;
  /** Publishes that were written and not replied to, also those that nobody waits for any longer. */
  #unanswered = 0;

  constructor(
    private readonly raw: RawConfirmChannel,
    private readonly options: RepublishChannelOptions,
    clock: Clock,
  ) {
    this.#pending = new PendingPublishes(clock);
    raw.on('return', ({ fields, properties }: ReturnedMessage) => {
      const number = headerOf(properties.headers, SettleHeaders.publishId);
      const pending = this.#pending.get(number);
      if (pending !== undefined) pending.returned = fields;
    });
    raw.on('error', (error: unknown) => {
      this.#error = error;
    });
    // Ahead of amqplib's own listener, which calls back as if each message had been refused.
    raw.prependListener('close', () => this.#end());
  }

  /**
   * Whether the next message is to be published on it. Not after a refusal: RabbitMQ goes on refusing each
   * message on a channel that first published to a quorum queue while that had no leader.
   */
  get isUsable(): boolean {
    return this.#open && !this.#hasRefused;
  }

  /**
   * Publishes a message to a queue through the default exchange. Never rejects.
   * @throws Error if the channel has closed: nothing was written.
   */
  publish(queue: string, message: OutgoingMessage, limits: ReplyLimits): Promise<PublishResult> {
    if (!this.#open) throw this.#reason;
    const pending = this.#pending.add(limits);
    const headers = Object.assign(newHeaderTable(), message.headers);
    headers[SettleHeaders.publishId] = pending.number;
    const options = { ...message.properties, mandatory: true, headers };
    try {
      this.raw.publish('', queue, message.body, options, (error: unknown) =>
        this.#replied(pending, error),
      );
      this.#unanswered += 1;
    } catch (error) {
      this.#unwritten(pending, error);
    }
    return pending.result;
  }

  /** Closes the channel; what is pending ends as `closed`. Never rejects. */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.#end();
    try {
      await this.raw.close();
    } catch {
      // It was closed already.
    }
  }

  get #reason(): unknown {
    return this.#error ?? this.options.connectionError() ?? new Error(texts.channelClosed);
  }

  #replied(pending: PendingPublish, error: unknown): void {
    // After the close amqplib calls back for what it remembers.
    if (!this.#open) return;
    this.#unanswered -= 1;
    const { returned } = pending;
    if (error) this.#pending.settle(pending, { status: 'refused' });
    else if (returned === undefined) this.#pending.settle(pending, CONFIRMED);
    else {
      const { replyCode, replyText } = returned;
      this.#pending.settle(pending, { status: 'returned', replyCode, replyText });
    }
    this.#hasRefused ||= Boolean(error);
    if (this.#hasRefused && this.#unanswered === 0) void this.close();
  }

  // amqplib has counted the callback in already: every later confirm would be one off.
  #unwritten(pending: PendingPublish, error: unknown): void {
    const isClosing = error instanceof Error && error.name === 'IllegalOperationError';
    if (isClosing) this.#pending.forget(pending);
    else this.#pending.settle(pending, { status: 'unencodable', error });
    void this.close();
    if (isClosing) throw error;
  }

  #end(): void {
    if (!this.#open) return;
    this.#open = false;
    const ended = this.#pending.end();
    // The broker closes a channel because of what it reads: of nothing else if a single publish was left.
    const isOnly = this.#error !== undefined && this.#unanswered === 1;
    const isAlone = this.options.isAlone || isOnly;
    // A connection says why it has closed once its channels have.
    void Promise.resolve().then(() => {
      for (const { resolve } of ended) resolve({ status: 'closed', error: this.#reason, isAlone });
    });
  }
}

interface ReturnedMessage {
  readonly fields: { readonly replyCode: number; readonly replyText: string };
  readonly properties: { readonly headers?: Record<string, unknown> };
}
