import { Inject, Injectable } from '@nestjs/common';
import type { Clock, Timer } from '../clock';
import { texts } from '../log/texts';
import { CLOCK } from '../nest/tokens';
import type { ActiveSubscription } from './active-subscription';
import { ActiveSubscriptions } from './active-subscriptions';
import { SubscriptionLogs } from './subscription-logs';

/**
 * Reports each delivery once that has been in flight longer than `stuckAfter` of its subscription: a handler
 * that never ends occupies a prefetch slot for ever.
 */
@Injectable()
export class StuckDeliveryWatch {
  #timer: Timer | undefined;

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly active: ActiveSubscriptions,
    private readonly logs: SubscriptionLogs,
  ) {}

  start(): void {
    this.#check();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  // The next check is no later than the next delivery can be stuck.
  #check(): void {
    const left = Math.min(...this.active.list.map((one) => this.#checkOne(one)));
    if (left === Number.POSITIVE_INFINITY) return;
    const ms = Math.max(1, left);
    this.#timer = this.clock.after(ms, () => this.#check(), { background: true });
  }

  /** Returns after how many ms the consumer has to be checked again. */
  #checkOne(active: ActiveSubscription): number {
    const now = this.clock.monotonic();
    const limits = active.methods.map(({ subscription }) => subscription.stuckAfter);
    let left = Math.min(...limits.map((limit) => limit || Number.POSITIVE_INFINITY));
    for (const inFlight of active.receiver.deliveries) {
      const { delivery, startedAt } = inFlight;
      const { subscription } = delivery;
      const limit = subscription.stuckAfter;
      if (limit === 0 || inFlight.isStuck === true) continue;
      const age = now - startedAt;
      if (age < limit) {
        left = Math.min(left, limit - age);
        continue;
      }
      inFlight.isStuck = true;
      active.recordStuck(subscription);
      const text = texts.stuckDelivery(delivery, age);
      this.logs.of(subscription).write('stuck-delivery', text, undefined, delivery);
    }
    return left;
  }
}
