import { SettleTest } from 'nestjs-settle/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Mail } from '../../../sample-app/mail';
import type { Order } from '../../../sample-app/order';
import { ShopModule } from '../../../sample-app/shop.module';
import { Stock } from '../../../sample-app/stock';

const order: Order = { number: 1, article: 'tea', card: 'valid', customer: { mail: 'a@b.c' } };

let shop: SettleTest;
beforeEach(async () => {
  shop = await SettleTest.create({ imports: [ShopModule] }).compile();
});
afterEach(() => shop.close());

describe('Stock', () => {
  it('reserves an available article', async () => {
    expect(await shop.deliver(Stock, 'reserve', order)).toMatchObject({
      outcome: 'ack',
      decision: 'ack',
    });
  });

  it('is retried at once if the shelf is busy', async () => {
    const first = await shop.deliver(Stock, 'reserve', { ...order, article: 'coffee' });
    expect(first).toMatchObject({ outcome: 'retry', attempt: 1 });
    expect(first.republished).toMatchObject({
      queue: 'stock',
      headers: { 'x-settle-attempt': 2 },
    });
    await shop.idle();
    expect(shop.settlements(Stock, 'reserve').map(({ outcome }) => outcome)).toEqual([
      'retry',
      'ack',
    ]);
  });

  it('refuses an unknown article, and keeps the reason', async () => {
    await shop.deliver(Stock, 'reserve', { ...order, article: 'unicorn' });
    const dead = await shop.queue('stock.dead');
    expect(dead.messages).toMatchObject([
      { headers: { 'x-settle-reason': 'drop', 'x-settle-error-message': 'no article "unicorn"' } },
    ]);
  });
});

describe('Mail', () => {
  it('dead-letters an order without a customer as a panic, and keeps running', async () => {
    expect(await shop.deliver(Mail, 'shipped', { number: 10 })).toMatchObject({
      decision: 'deadLetter',
      reason: 'panic',
    });
    expect(shop.failFastEvent).toBeUndefined();
    const { messages } = await shop.queue('mail.dead');
    expect(messages[0]?.headers['x-settle-error-stack']).toContain('Mail.shipped');
  });
});
