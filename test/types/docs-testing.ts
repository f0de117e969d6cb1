// The snippets of docs/testing.md.
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
