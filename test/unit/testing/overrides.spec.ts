import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import {
  getSubscriptionToken,
  InjectSubscription,
  type Outcome,
  retry,
  Subscribe,
  type SubscriptionMetadata,
} from '../../../lib';
import { SettleTest } from '../../../lib/testing';
import { appOf, boot } from './app';

class Bank {
  answer = 'yes';
}

@Injectable()
class Billing {
  constructor(
    readonly bank: Bank,
    @InjectSubscription(Billing, 'charge') readonly subscription: SubscriptionMetadata,
  ) {}

  @Subscribe({ queue: 'billing', retry: { attempts: 5 }, deadLetter: 'billing.dead' })
  charge(): Outcome {
    return retry();
  }
}

const app = appOf({ providers: [Bank, Billing] });

describe('overrides', () => {
  it('change a subscription, also its injected metadata', async () => {
    const builder = SettleTest.create(app).overrideProvider(
      getSubscriptionToken(Billing, 'charge'),
    );
    const test = await boot(builder.useValue({ retry: { attempts: 2 }, deadLetter: 'other' }));
    await test.publish('', 'billing', 1);
    await test.idle();
    expect(test.settlements(Billing, 'charge').map(({ decision }) => decision)).toEqual([
      'republish',
      'deadLetter',
    ]);
    expect(await test.queue('other')).toMatchObject({ ready: 1 });
    expect(test.get(Billing).subscription).toMatchObject({
      queue: 'billing',
      retry: { attempts: 2 },
      deadLetter: { queue: 'other' },
    });
  });

  it('end with the test', async () => {
    const test = await boot(SettleTest.create(app));
    expect(test.get(Billing).subscription).toMatchObject({ retry: { attempts: 5 } });
  });

  it('can be a value, a class or a factory', async () => {
    class NoBank extends Bank {
      override answer = 'no';
    }
    const create = () => SettleTest.create(app).overrideProvider(Bank);
    for (const [builder, answer] of [
      [create().useValue({ answer: 'value' }), 'value'],
      [create().useClass(NoBank), 'no'],
      [create().useFactory({ factory: () => ({ answer: 'factory' }) }), 'factory'],
    ] as const) {
      expect((await boot(builder)).get(Billing).bank.answer).toBe(answer);
    }
  });

  it('can be anything that Nest can override', async () => {
    const builder = SettleTest.create({ ...app, providers: [Billing] });
    const test = await boot(builder.override((nest) => nest.useMocker(() => new Bank())));
    expect(test.get(Billing).bank).toBeInstanceOf(Bank);
  });
});
