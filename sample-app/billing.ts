import { Injectable } from '@nestjs/common';
import { ack, Delivery, exponential, type Outcome, on, retryAfter, Subscribe } from 'nestjs-settle';
import { Bank, BankTimeout } from './bank';
import { Mail } from './mail';
import type { Order } from './order';

/** Charges paid orders: a quorum queue, delayed retries, a receipt after the settlement. */
@Injectable()
export class Billing {
  constructor(
    private readonly bank: Bank,
    private readonly mail: Mail,
  ) {}

  @Subscribe({
    exchange: 'orders',
    routingKey: 'order.paid',
    queue: 'billing',
    queueType: 'quorum',
    retry: { attempts: 3, backoff: exponential('1s', { max: '5m', jitter: 0.2 }) },
    deadLetter: 'billing.dead',
    onError: [on(BankTimeout, 'retryAfter'), 'drop'],
    onPanic: 'failFast',
  })
  async charge(order: Order, @Delivery() delivery: Delivery): Promise<Outcome | void> {
    if (!(await this.bank.ready())) return retryAfter('500ms');
    await this.bank.charge(order, delivery.signal);
    return ack().andAfter(() => this.mail.receipt(order));
  }
}
