import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { Subscribe } from '../../../lib';
import { DeadLetters, SettleDeadLettersModule } from '../../../lib/dead-letters';
import { SettleTest } from '../../../lib/testing';
import { appOf } from './app';

@Injectable()
class Billing {
  isHealthy = false;

  @Subscribe({ queue: 'billing', deadLetter: 'billing.dead' })
  charge(_order: unknown): void {
    if (!this.isHealthy) throw new RangeError('amount below 0');
  }
}

const app = () => appOf({ providers: [Billing], imports: [SettleDeadLettersModule.forRoot()] });

describe('DeadLetters in a test', () => {
  it('works on the server in memory, in virtual time', async () => {
    const test = await SettleTest.create(app()).compile();
    for (const id of [1, 2, 3]) await test.deliver(Billing, 'charge', { id });
    const deadLetters = test.get(DeadLetters);
    expect((await deadLetters.list('billing.dead')).groups).toMatchObject([
      { errorName: 'RangeError', handler: 'Billing.charge', count: 3 },
    ]);
    test.get(Billing).isHealthy = true;
    const replaying = deadLetters.replay('billing.dead', { rate: 1 });
    await test.advance('5s');
    expect(await replaying).toMatchObject({ replayed: 3, ended: 'complete' });
    await test.idle();
    expect(
      test.settlements(Billing, 'charge').filter(({ outcome }) => outcome === 'ack'),
    ).toHaveLength(3);
    expect((await test.queue('billing.dead')).ready).toBe(0);
    await test.close();
  });

  it('ends a replay when the application closes; the rest stays', async () => {
    const test = await SettleTest.create(app()).compile();
    for (const id of [1, 2, 3]) await test.deliver(Billing, 'charge', { id });
    const replaying = test.get(DeadLetters).replay('billing.dead', { rate: 1, to: 'billing' });
    await test.advance(10);
    await test.close();
    const { ended, replayed } = await replaying;
    expect(ended).toBe('aborted');
    expect(replayed).toBeLessThan(3);
  });

  it('names the connections if the one of its options does not exist', async () => {
    const other = appOf({
      providers: [],
      imports: [SettleDeadLettersModule.forRoot({ connection: 'other' })],
    });
    const test = await SettleTest.create(other).compile();
    await expect(test.get(DeadLetters).list('q')).rejects.toThrow('("default"); found "other"');
    await test.close();
  });
});
