// What README.md shows of tests; held by test/unit/readme.spec.ts.
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  getSubscriptionToken,
  InjectSubscription,
  type Subscription,
  SubscriptionRegistry,
} from 'nestjs-settle';
import { Billing } from '../../sample-app/billing';
import { ShopModule } from '../../sample-app/shop.module';

export async function start(): Promise<void> {
  const module = await Test.createTestingModule({ imports: [ShopModule] })
    .overrideProvider(getSubscriptionToken(Billing, 'charge'))
    .useValue({ queue: 'billing.test', retry: { attempts: 1 } })
    .compile();
  await module.init();
  await module.get(SubscriptionRegistry).started;
}

@Injectable()
export class Report {
  constructor(@InjectSubscription(Billing, 'charge') private readonly billing: Subscription) {}

  attempts(): number | undefined {
    return this.billing.retry?.attempts;
  }
}
