// What README.md shows of moving from @RabbitSubscribe; held by test/unit/readme.spec.ts.
import { Injectable } from '@nestjs/common';
import { on, Subscribe } from 'nestjs-settle';

interface Order {
  readonly number: number;
}

declare class BankTimeout extends Error {}
declare function charge(order: Order): Promise<void>;

@Injectable()
export class Billing {
  @Subscribe({
    exchange: 'orders',
    routingKey: 'order.paid',
    queue: 'billing',
    retry: { attempts: 5 },
    deadLetter: 'billing.dead',
    onError: [on(BankTimeout, 'retryAfter'), 'drop'],
  })
  async charge(order: Order): Promise<void> {
    await charge(order);
  }
}
