// What README.md shows of a running service; held by test/unit/readme.spec.ts.
import { Injectable } from '@nestjs/common';
import { SettlementEvents, SubscriptionRegistry } from 'nestjs-settle';
import { Billing } from '../../sample-app/billing';

declare const counter: { add(count: number, labels: Record<string, string>): void };

@Injectable()
export class Operating {
  constructor(
    private readonly registry: SubscriptionRegistry,
    private readonly settlements: SettlementEvents,
  ) {}

  isHealthy(): boolean {
    return this.registry.list().every(({ state }) => state === 'consuming' || state === 'paused');
  }

  async duringMaintenance(work: () => Promise<void>): Promise<void> {
    await this.registry.pause(Billing, 'charge');
    await work();
    await this.registry.resume(Billing, 'charge');
  }

  count(): void {
    this.settlements.subscribe(({ subscription, decision, status }) => {
      counter.add(1, { handler: subscription.handler, decision: decision.kind, status });
    });
  }
}
