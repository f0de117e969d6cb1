import { afterEach, describe, expect, it } from '@jest/globals';
import { SettleTest, type SettleTestOptions } from 'nestjs-settle/testing';
import { Bank } from '../../../sample-app/bank';
import { Billing } from '../../../sample-app/billing';
import { Screen } from '../../../sample-app/screen';
import { ShopModule } from '../../../sample-app/shop.module';

const order = { number: 1, article: 'tea', card: 'always slow', customer: { mail: 'a@b.c' } };
const noScreen = { heading: () => {}, row: () => {}, timedRow: () => {} };

describe('close() while something is pending leaves nothing open', () => {
  let shop: SettleTest | undefined;

  async function start(options: SettleTestOptions): Promise<SettleTest> {
    shop = await SettleTest.create({ imports: [ShopModule] }, options)
      .overrideProvider(Screen)
      .useValue(noScreen)
      .compile();
    return shop;
  }

  afterEach(async () => {
    await shop?.close();
  });

  it.each(['virtual', 'real'] as const)('a pending retry on the %s clock', async (clock) => {
    const test = await start({ clock });
    const settlement = await test.deliver(Billing, 'charge', order);
    expect(settlement).toMatchObject({ decision: 'republish' });
  });

  it('a channel that is being reopened', async () => {
    const test = await start({ clock: 'real' });
    test.loseChannel(Billing, 'charge');
  });

  it('a shutdown with a handler that never ends', async () => {
    const test = await start({});
    test.get(Bank).charge = () => new Promise(() => {});
    await test.publish('orders', 'order.paid', order);
    await test.advance(0);
    expect(await test.queue('billing')).toMatchObject({ unacknowledged: 1 });
  });
});
