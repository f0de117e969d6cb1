import type { PublishResult } from '../amqp/republish-transport';
import { headerOf, SettleHeaders } from '../delivery/headers';
import type { OutgoingMessage } from '../delivery/republish';
import { texts } from '../log/texts';
import type { RawConfirmChannel } from './types';

interface Returned {
  readonly replyCode: number;
  readonly replyText: string;
}

interface Pending {
  returned: Returned | undefined;
  settle(result: PublishResult): void;
}

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
 * when the channel closes, and with the reason that the broker gave.
 */
export class RepublishChannel {
  readonly #pending = new Map<number, Pending>();
  #number = 0;
  #open = true;
  #error: unknown;

  constructor(
    private readonly raw: RawConfirmChannel,
    private readonly options: RepublishChannelOptions,
  ) {
    raw.on('return', ({ fields, properties }: ReturnedMessage) => {
      const number = headerOf(properties.headers, SettleHeaders.publishId);
      const pending = this.#pending.get(number as number);
      if (pending !== undefined) pending.returned = fields;
    });
    raw.on('error', (error: unknown) => {
      this.#error = error;
    });
    // Ahead of amqplib's own listener, which calls back as if each message had been refused.
    raw.prependListener('close', () => this.#end());
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /**
   * Publishes a message to a queue through the default exchange. Never rejects.
   * @throws Error if the channel has closed: nothing was written.
   */
  publish(queue: string, { body, properties, headers }: OutgoingMessage): Promise<PublishResult> {
    if (!this.#open) throw this.#reason;
    this.#number += 1;
    const number = this.#number;
    const result = new Promise<PublishResult>((resolve) => {
      this.#pending.set(number, {
        returned: undefined,
        settle: (ended) => {
          this.#pending.delete(number);
          resolve(ended);
        },
      });
    });
    // Without a prototype: amqplib also writes what a table inherits.
    const table = Object.assign(Object.create(null), headers, {
      [SettleHeaders.publishId]: number,
    });
    const options = { ...properties, mandatory: true, headers: table };
    try {
      this.raw.publish('', queue, body, options, (error: unknown) => this.#replied(number, error));
    } catch (error) {
      this.#unwritten(number, error);
    }
    return result;
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

  #replied(number: number, error: unknown): void {
    // After the close amqplib calls back for what it remembers.
    const pending = this.#open ? this.#pending.get(number) : undefined;
    if (pending === undefined) return;
    const { returned } = pending;
    if (error) pending.settle({ status: 'refused' });
    else if (returned === undefined) pending.settle({ status: 'confirmed' });
    else {
      const { replyCode, replyText } = returned;
      pending.settle({ status: 'returned', replyCode, replyText });
    }
  }

  // amqplib has counted the callback in already: every later confirm would be one off.
  #unwritten(number: number, error: unknown): void {
    const isClosing = error instanceof Error && error.name === 'IllegalOperationError';
    if (isClosing) this.#pending.delete(number);
    else this.#pending.get(number)?.settle({ status: 'unencodable', error });
    void this.close();
    if (isClosing) throw error;
  }

  #end(): void {
    if (!this.#open) return;
    this.#open = false;
    const pending = [...this.#pending.values()];
    const { isAlone } = this.options;
    // A connection says why it has closed once its channels have.
    void Promise.resolve().then(() => {
      for (const { settle } of pending) settle({ status: 'closed', error: this.#reason, isAlone });
    });
  }
}

interface ReturnedMessage {
  readonly fields: Returned;
  readonly properties: { readonly headers?: Record<string, unknown> };
}
