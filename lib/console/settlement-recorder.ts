import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { Clock } from '../clock';
import { SettlementEvents } from '../lifecycle/settlement-events';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { SettlementHistory } from './settlement-history';
import { CONSOLE_CLOCK } from './tokens';

/** Keeps the last hour of every subscription. */
@Injectable()
export class SettlementRecorder implements OnModuleInit {
  readonly #histories = new Map<SubscriptionMetadata, SettlementHistory>();

  constructor(
    private readonly events: SettlementEvents,
    @Inject(CONSOLE_CLOCK) private readonly clock: Clock,
  ) {}

  // The stream completes at shutdown, which ends the subscription.
  onModuleInit(): void {
    this.events.subscribe((settlement) => {
      this.historyOf(settlement.subscription).record(settlement, this.clock.now());
    });
  }

  historyOf(subscription: SubscriptionMetadata): SettlementHistory {
    let history = this.#histories.get(subscription);
    if (history === undefined) {
      history = new SettlementHistory();
      this.#histories.set(subscription, history);
    }
    return history;
  }
}
