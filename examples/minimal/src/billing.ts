import { Injectable, Logger } from '@nestjs/common';
import { Delivery, exponential, on, Subscribe } from 'nestjs-settle';

export interface Order {
  readonly id: string;
  readonly card: 'valid' | 'slow' | 'stolen';
}

export class BankTimeout extends Error {}

@Injectable()
export class Billing {
  readonly #logger = new Logger('Billing');

  @Subscribe({
    exchange: 'orders',
    routingKey: 'order.paid',
    queue: 'billing',
    queueType: 'quorum',
    retry: { attempts: 3, backoff: exponential('1s', { max: '5m' }) },
    deadLetter: 'billing.dead',
    onError: [on(BankTimeout, 'retryAfter'), 'drop'],
  })
  async charge(order: Order, @Delivery() delivery: Delivery): Promise<void> {
    if (order.card === 'slow' && delivery.attempt === 1) throw new BankTimeout('no answer');
    if (order.card === 'stolen') throw new Error('card refused');
    this.#logger.log(`charged ${order.id} at attempt ${delivery.attempt}`);
  }
}
