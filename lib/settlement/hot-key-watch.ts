import type { Clock, Timer } from '../clock';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { BusiestKey } from '../model/subscription-status';

/** What a watch depends on. */
export interface HotKeyDependencies {
  readonly clock: Clock;
  readonly log: SubscriptionLog;
  readonly queue: string | undefined;
  /** How many deliveries RabbitMQ leaves unacknowledged. */
  readonly prefetch: number;
  /** How long a key may be hot until it is reported, in ms; 0: never. */
  readonly after: number;
}

interface HotKey {
  readonly key: string;
  deliveries: number;
  isReported: boolean;
  readonly timer: Timer;
}

/**
 * Reports a key that has more than half of the prefetched deliveries for too long, so that those of other keys
 * are not even delivered; and when it has less than a quarter again.
 */
export class HotKeyWatch {
  /** No two keys have more than half. */
  #hot: HotKey | undefined;

  constructor(private readonly dependencies: HotKeyDependencies) {}

  /** Another number of deliveries has this key. */
  changed({ key, deliveries }: BusiestKey): void {
    const { clock, log, queue, prefetch, after } = this.dependencies;
    const hot = this.#hot;
    const isHot = deliveries > 1 && deliveries > prefetch / 2;
    if (hot?.key === key) {
      hot.deliveries = deliveries;
      if (isHot || (hot.isReported && deliveries >= prefetch / 4)) return;
      this.clear();
      if (hot.isReported) log.write('hot-key-ended', texts.hotKeyEnded(queue, key));
    } else if (isHot && after > 0) {
      this.clear();
      const timer = clock.after(after, () => this.#report(), { background: true });
      this.#hot = { key, deliveries, isReported: false, timer };
    }
  }

  /** The deliveries are left to RabbitMQ, which redelivers them. */
  clear(): void {
    this.#hot?.timer.cancel();
    this.#hot = undefined;
  }

  #report(): void {
    const { log, queue, prefetch, after } = this.dependencies;
    if (this.#hot === undefined) return;
    this.#hot.isReported = true;
    log.write('hot-key', texts.hotKey(queue, this.#hot, prefetch, after));
  }
}
