import { Injectable } from '@nestjs/common';
import type { Order } from './order';

/** The bank did not answer in time; another attempt may succeed. */
export class BankTimeout extends Error {
  override readonly name = 'BankTimeout';
}

/** The bank said no; another attempt changes nothing. */
export class CardDeclined extends Error {
  override readonly name = 'CardDeclined';
}

/** A bank that behaves as the card says. */
@Injectable()
export class Bank {
  #closed = false;
  readonly #asked = new Set<number>();

  /** Closed for whoever asks next. */
  close(): void {
    this.#closed = true;
  }

  async ready(): Promise<boolean> {
    const ready = !this.#closed;
    this.#closed = false;
    return ready;
  }

  /** @param signal ends the request; a client such as `fetch` takes it as it is. */
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
