import { Inject, Injectable } from '@nestjs/common';
import type { Clock, Timer } from '../clock';
import { texts } from '../log/texts';
import { CLOCK } from '../nest/tokens';
import { ActiveSubscriptions } from './active-subscriptions';
import { SubscriptionLogs } from './subscription-logs';

/** Check interval, and the age (ms) above which an unfinished delivery is reported. */
const INTERVAL = 60_000;

/** Reports deliveries that take very long: a handler that never ends occupies a prefetch slot for ever. */
@Injectable()
export class StuckDeliveryWatch {
  #timer: Timer | undefined;

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly active: ActiveSubscriptions,
    private readonly logs: SubscriptionLogs,
  ) {}

  start(): void {
    this.#timer = this.clock.after(
      INTERVAL,
      () => {
        this.#check();
        this.start();
      },
      { background: true },
    );
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #check(): void {
    for (const { receiver, subscription } of this.active.list) {
      const age = receiver.oldestAge;
      if (age < INTERVAL) continue;
      const text = texts.stuckDelivery(subscription.queue, age, receiver.inFlight);
      this.logs.of(subscription).write('stuck-delivery', text);
    }
  }
}
