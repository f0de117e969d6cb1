import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { drop, type Outcome, retry, Subscribe } from 'nestjs-settle';
import type { Order } from './order';

/** Reserves what was ordered: a classic queue, and immediate retries. */
@Injectable()
export class Stock {
  readonly #shelves = new Map([
    ['tea', { locked: false }],
    ['coffee', { locked: true }],
  ]);

  @Subscribe({
    exchange: 'orders',
    routingKey: 'order.placed',
    queue: 'stock',
    retry: { attempts: 3 },
    deadLetter: 'stock.dead',
  })
  async reserve({ article }: Order): Promise<Outcome | void> {
    await setTimeout(100); // As long as a query may take.
    const shelf = this.#shelves.get(article);
    if (shelf === undefined) return drop(`no article "${article}"`);
    if (shelf.locked) {
      shelf.locked = false; // Free again when the message is redelivered.
      return retry();
    }
  }
}
