import { SettleTest } from 'nestjs-settle/testing';
import { expect, it } from 'vitest';
import { AppModule } from '../../../examples/minimal/src/app.module';
import { Billing } from '../../../examples/minimal/src/billing';

it('retries a slow bank after the backoff', async () => {
  const test = await SettleTest.create({ imports: [AppModule] }).compile();

  const first = await test.deliver(Billing, 'charge', { id: 'A-2', card: 'slow' });
  expect(first).toMatchObject({ outcome: 'retryAfter', decision: 'republish', delay: 1_000 });

  await test.advance('2s');
  const last = test.settlements(Billing, 'charge').at(-1);
  expect(last).toMatchObject({ outcome: 'ack', attempt: 2, status: 'sent' });

  await test.close();
});
