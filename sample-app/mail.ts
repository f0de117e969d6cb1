import { Injectable } from '@nestjs/common';
import { Subscribe } from 'nestjs-settle';
import type { Order } from './order';
import { Screen } from './screen';

/** Writes to customers. Its handler trusts its payload, so its bugs must not shut down the shop. */
@Injectable()
export class Mail {
  constructor(private readonly screen: Screen) {}

  @Subscribe({
    exchange: 'orders',
    routingKey: 'order.shipped',
    queue: 'mail',
    deadLetter: { queue: 'mail.dead', stack: true },
    onPanic: 'drop',
  })
  shipped(order: Order): void {
    this.#send(order.customer.mail, `order ${order.number} is on its way`);
  }

  receipt(order: Order): void {
    this.#send(order.customer.mail, `receipt of order ${order.number}`);
  }

  #send(address: string, text: string): void {
    this.screen.timedRow([`mail to ${address}: ${text}`, 0]);
  }
}
