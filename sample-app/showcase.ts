import { Injectable } from '@nestjs/common';
import type { Settlement } from 'nestjs-settle';
import { filter, firstValueFrom, ReplaySubject, scan, timeout } from 'rxjs';
import { Bank } from './bank';
import { DeadLetters } from './dead-letters';
import { Orders } from './orders';
import { Screen } from './screen';
import { SettlementPrinter } from './settlement-printer';
import { ShopSettlements } from './shop-settlements';
import { type Story, stories } from './stories';

/** How long a message may take until it is settled, in ms. */
const DEADLINE = 30_000;

/** Publishes one message after the other and waits until each is settled. */
@Injectable()
export class Showcase {
  readonly #settlements = new ReplaySubject<Settlement>(20);
  readonly #deadLettered = new Set<string>();

  constructor(
    settlements: ShopSettlements,
    private readonly orders: Orders,
    private readonly bank: Bank,
    private readonly deadLetters: DeadLetters,
    private readonly printer: SettlementPrinter,
    private readonly screen: Screen,
  ) {
    settlements.subscribe(this.#settlements);
  }

  /**
   * Resolves with whether everything was shown: not if a signal stops the application before.
   * @throws Error if a message is not settled in time.
   */
  async run(): Promise<boolean> {
    this.printer.header();
    for (const story of stories) {
      const isShown = await this.#show(story);
      if (!isShown) return false;
    }
    this.screen.heading('The dead-letter queues, and why each message is there');
    await this.deadLetters.show(this.#deadLettered);
    return true;
  }

  async #show({ title, event, order, bankIsClosed = false }: Story): Promise<boolean> {
    this.screen.heading(title);
    if (bankIsClosed) this.bank.close();
    const id = await this.orders.publish(event, order);
    const last = this.#settlements.pipe(
      filter(({ delivery }) => delivery.messageId === id),
      scan((seen: readonly Settlement[], one) => [...seen, one], []),
      filter(isWhole),
      timeout({
        first: DEADLINE,
        with: () => {
          throw new Error(`${title}: message ${id} is not settled after ${DEADLINE / 1000} s`);
        },
      }),
    );
    const settlements = await firstValueFrom(last, { defaultValue: [] });
    if (settlements.some(isDeadLettered)) this.#deadLettered.add(id);
    return settlements.length > 0;
  }
}

function isDeadLettered({ decision }: Settlement): boolean {
  return decision.kind === 'deadLetter';
}

/**
 * Whether these are all settlements of a message. A republished message may be settled before the attempt
 * that published it, which waits for the broker's confirm.
 */
function isWhole(settlements: readonly Settlement[]): boolean {
  const last = settlements.find(
    ({ decision: { kind: done } }) => done !== 'requeue' && done !== 'republish',
  );
  return last?.status === 'sent' && settlements.length >= last.attempt;
}
