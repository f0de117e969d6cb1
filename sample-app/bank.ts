import { Injectable } from '@nestjs/common';
import type { Order } from './order';

/** The bank did not answer in time; another attempt may succeed. */
export class BankTimeout extends Error {
  override readonly name = 'BankTimeout';
}

/** The bank declined the card; another attempt changes nothing. */
export class CardDeclined extends Error {
  override readonly name = 'CardDeclined';
}

/** A bank whose behaviour depends on the card. */
@Injectable()
export class Bank {
  #closed = false;
  readonly #asked = new Set<number>();

  /** Rejects the next request. */
  close(): void {
    this.#closed = true;
  }

  async ready(): Promise<boolean> {
    const ready = !this.#closed;
    this.#closed = false;
    return ready;
  }

  /** @param signal aborts the request; a client such as `fetch` accepts it. */
  async charge({ number, card }: Order, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const isFirst = !this.#asked.has(number);
    this.#asked.add(number);
    if (card === 'declined') throw new CardDeclined('the card is declined');
    if (card === 'always slow' || (card === 'slow once' && isFirst)) {
      throw new BankTimeout('no answer from the bank');
    }
  }
}
