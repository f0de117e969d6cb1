// What README.md shows of tests; held by test/unit/readme.spec.ts.
import { Injectable } from '@nestjs/common';
import { InjectSubscription, type SubscriptionMetadata } from 'nestjs-settle';
import { Billing } from '../../sample-app/billing';

@Injectable()
export class Report {
  constructor(
    @InjectSubscription(Billing, 'charge') private readonly billing: SubscriptionMetadata,
  ) {}

  attempts(): number | undefined {
    return this.billing.retry?.attempts;
  }
}
