import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { SettleTest } from 'nestjs-settle/testing';
import { Billing } from '../../../sample-app/billing';
import { Screen } from '../../../sample-app/screen';
import { ShopModule } from '../../../sample-app/shop.module';

const order = { number: 1, article: 'tea', card: 'always slow', customer: { mail: 'a@b.c' } };
const noScreen = { heading: () => {}, row: () => {}, timedRow: () => {} };

describe("Jest's fake timers", () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('neither delay acknowledgements nor move the clock of the test', async () => {
    jest.useFakeTimers();
    const shop = await SettleTest.create({ imports: [ShopModule] })
      .overrideProvider(Screen)
      .useValue(noScreen)
      .compile();
    const first = await shop.deliver(Billing, 'charge', order);
    expect(first).toMatchObject({ decision: 'republish', attempt: 1 });
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(shop.settlements(Billing, 'charge')).toHaveLength(1);
    await shop.advance('5m');
    expect(shop.settlements(Billing, 'charge')).toHaveLength(3);
    expect(await shop.queue('billing.dead')).toMatchObject({ ready: 1 });
    await shop.close();
  });
});
