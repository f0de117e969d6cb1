import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SettleTest } from 'nestjs-settle/testing';
import { Bank } from '../../../sample-app/bank';
import { Billing } from '../../../sample-app/billing';
import { Mail } from '../../../sample-app/mail';
import type { Order } from '../../../sample-app/order';
import { Orders } from '../../../sample-app/orders';
import { Screen } from '../../../sample-app/screen';
import { ShopModule } from '../../../sample-app/shop.module';

const order: Order = { number: 1, article: 'tea', card: 'valid', customer: { mail: 'a@b.c' } };
const noScreen = { heading: () => {}, row: () => {}, timedRow: () => {} };

describe('Billing', () => {
  let shop: SettleTest;

  beforeEach(async () => {
    shop = await SettleTest.create({ imports: [ShopModule] })
      .overrideProvider(Screen)
      .useValue(noScreen)
      .compile();
  });
  afterEach(() => shop.close());

  it('charges the card and sends a receipt', async () => {
    const receipt = jest.spyOn(shop.get(Mail), 'receipt');
    await shop.get(Orders).publish('order.paid', order);
    await shop.idle();
    expect(shop.settlements(Billing, 'charge')).toMatchObject([{ outcome: 'ack', attempt: 1 }]);
    expect(receipt).toHaveBeenCalledWith(order);
  });

  it('is retried while the bank is closed', async () => {
    shop.get(Bank).close();
    const settlement = await shop.deliver(Billing, 'charge', order);
    expect(settlement).toMatchObject({ outcome: 'retryAfter', delay: 500 });
    await shop.advance('1s');
    expect(shop.settlements(Billing, 'charge')).toMatchObject([{}, { outcome: 'ack', attempt: 2 }]);
  });
});
