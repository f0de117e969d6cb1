import { Inject, Injectable } from '@nestjs/common';
import type { Clock, Timer } from '../clock';
import { texts } from '../log/texts';
import { CLOCK } from '../nest/tokens';
import type { ActiveSubscription } from './active-subscription';
import { ActiveSubscriptions } from './active-subscriptions';
import { SubscriptionLogs } from './subscription-logs';

/** The age at which an unfinished delivery is reported, and the time until it is again, in ms. */
const INTERVAL = 60_000;

/** The delivery that was reported last, by its start, and when; both on the monotonic scale. */
interface Report {
  readonly startedAt: number;
  readonly at: number;
}

/**
 * Reports a delivery that is unfinished after a minute, and every minute from then on: a handler that never
 * ends occupies a prefetch slot for ever.
 */
@Injectable()
export class StuckDeliveryWatch {
  readonly #reported = new Map<ActiveSubscription, Report>();
  #timer: Timer | undefined;

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly active: ActiveSubscriptions,
    private readonly logs: SubscriptionLogs,
  ) {}

  start(): void {
    this.#checkAfter(INTERVAL);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  // No later than the next delivery reaches the age.
  #checkAfter(ms: number): void {
    const check = (): void => {
      const left = this.active.list.map((one) => this.#check(one));
      this.#checkAfter(Math.max(1, Math.min(INTERVAL, ...left)));
    };
    this.#timer = this.clock.after(ms, check, { background: true });
  }

  /** Returns after how many ms the subscription has to be checked again. */
  #check(active: ActiveSubscription): number {
    const { receiver, subscription } = active;
    const age = receiver.oldestAge;
    if (age < INTERVAL) return INTERVAL - age;
    const now = this.clock.monotonic();
    const last = this.#reported.get(active);
    const isSame = last !== undefined && Math.abs(now - age - last.startedAt) < 1;
    const left = INTERVAL - receiver.oldestAgeBelow(INTERVAL);
    if (isSame && now - last.at < INTERVAL) return Math.min(left, INTERVAL - (now - last.at));
    this.#reported.set(active, { startedAt: now - age, at: now });
    const text = texts.stuckDelivery(subscription.queue, age, receiver.inFlight);
    this.logs.of(subscription).write('stuck-delivery', text);
    return left;
  }
}
