import { headerOf, SettleHeaders } from '../delivery/headers';
import type { OutgoingMessage } from '../delivery/republish';
import { encodableHeaders } from './encodable';
import type { RawConfirmChannel } from './types';

/**
 * How one publish of a copy ended:
 * - `confirmed`: the broker has it in a queue;
 * - `returned`, `refused`: the broker does not have it;
 * - `unknown`: the channel closed before the broker said anything;
 * - `unencodable`: amqplib could not write it; the channel is gone with it.
 */
export type PublishResult = 'confirmed' | 'returned' | 'refused' | 'unknown' | 'unencodable';

interface Pending {
  returned: boolean;
  settle(result: PublishResult): void;
}

/**
 * The confirm channel for copies. A returned message is matched to its publish by a number in a header
 * of ours; it comes before its confirm. Every publish settles, also where amqplib forgets its callback
 * when the channel closes.
 */
export class RepublishChannel {
  readonly #pending = new Map<number, Pending>();
  #number = 0;
  #open = true;

  constructor(private readonly raw: RawConfirmChannel) {
    raw.on('return', ({ properties }: { properties: { headers?: Record<string, unknown> } }) => {
      const number = headerOf(properties.headers, SettleHeaders.publishId);
      const pending = this.#pending.get(number as number);
      if (pending !== undefined) pending.returned = true;
    });
    raw.on('error', () => {
      // What it was stands in the broker's log; each pending copy is told that it is unknown.
    });
    raw.on('close', () => this.#end());
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Publishes a copy to a queue through the default exchange. Never rejects. */
  publish(queue: string, { body, properties, headers }: OutgoingMessage): Promise<PublishResult> {
    if (!this.#open) return Promise.resolve('unknown');
    this.#number += 1;
    const number = this.#number;
    return new Promise((resolve) => {
      const pending: Pending = {
        returned: false,
        settle: (result) => {
          this.#pending.delete(number);
          resolve(result);
        },
      };
      this.#pending.set(number, pending);
      try {
        const table = encodableHeaders(headers);
        table[SettleHeaders.publishId] = number;
        this.raw.publish(
          '',
          queue,
          body,
          { ...properties, mandatory: true, headers: table },
          (error: unknown) => {
            // After the close amqplib calls back for what it remembers; the rest is told by us.
            if (!this.#open) return pending.settle('unknown');
            if (error) return pending.settle('refused');
            pending.settle(pending.returned ? 'returned' : 'confirmed');
          },
        );
      } catch {
        // amqplib has counted the callback in already: every later confirm would be one off.
        pending.settle('unencodable');
        void this.close();
      }
    });
  }

  /** Closes the channel; what is pending becomes `unknown`. Never rejects. */
  async close(): Promise<void> {
    if (!this.#open) return;
    this.#end();
    try {
      await this.raw.close();
    } catch {
      // It was closed already.
    }
  }

  #end(): void {
    this.#open = false;
    for (const pending of [...this.#pending.values()]) pending.settle('unknown');
  }
}
