import { getSubscriptionToken } from 'nestjs-settle';
import { SettleTest } from 'nestjs-settle/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

  it('charges the card', async () => {
    expect(await shop.deliver(Billing, 'charge', order)).toMatchObject({
      outcome: 'ack',
      attempt: 1,
    });
  });

  it('is retried while the bank is closed', async () => {
    shop.get(Bank).close();
    expect(await shop.deliver(Billing, 'charge', order)).toMatchObject({
      outcome: 'retryAfter',
      delay: 500,
    });
    await shop.advance('1s');
    expect(shop.settlements(Billing, 'charge').at(-1)).toMatchObject({
      outcome: 'ack',
      attempt: 2,
    });
  });

  it('gives up after three attempts', async () => {
    await shop.deliver(Billing, 'charge', { ...order, card: 'always slow' });
    await shop.advance('5m');
    const dead = await shop.queue('billing.dead');
    expect(dead.messages[0]).toMatchObject({
      payload: { number: 1 },
      headers: { 'x-settle-reason': 'attempts', 'x-settle-error-name': 'BankTimeout' },
    });
  });

  it('runs from the publisher to the receipt', async () => {
    const receipts: Order[] = [];
    shop.get(Mail).receipt = (paid) => receipts.push(paid);
    await shop.get(Orders).publish('order.paid', order);
    await shop.idle();
    expect(receipts).toEqual([order]);
  });
});

describe('Billing with a single attempt', () => {
  it('dead-letters a message that fails', async () => {
    const shop = await SettleTest.create({ imports: [ShopModule] })
      .overrideProvider(getSubscriptionToken(Billing, 'charge'))
      .useValue({ retry: { attempts: 1 } })
      .compile();
    const settlement = await shop.deliver(Billing, 'charge', { ...order, card: 'slow once' });
    expect(settlement).toMatchObject({ decision: 'deadLetter', reason: 'attempts' });
    await shop.close();
  });
});
