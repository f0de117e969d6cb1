import type { SettlementEvents } from '../lifecycle/settlement-events';
import { texts } from '../log/texts';
import type { Settlement } from '../model/settlement';
import type { SubscriptionMetadata } from '../model/subscription-metadata';

/** A delivery whose settlement somebody waits for. */
interface PendingDelivery {
  readonly subscription: SubscriptionMetadata;
  readonly messageId: unknown;
  resolve(settlement: Settlement): void;
  reject(reason: Error): void;
}

/** The settlements of an application so far, and those that somebody waits for. */
export class SettlementRecord {
  readonly list: Settlement[] = [];
  readonly #awaited = new Set<PendingDelivery>();
  #stopped = false;

  constructor(events: SettlementEvents) {
    events.subscribe({
      next: (settlement) => this.#add(settlement),
      complete: () => this.#stop(),
    });
  }

  /** Whether the application has stopped: there is no further settlement. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /**
   * Resolves with the next settlement of a message by a subscription; rejects where the application stops
   * before. That nobody waits for it is no fault.
   */
  next(subscription: SubscriptionMetadata, messageId: unknown): Promise<Settlement> {
    const settled = new Promise<Settlement>((resolve, reject) => {
      this.#awaited.add({ subscription, messageId, resolve, reject });
    });
    settled.catch(() => undefined);
    if (this.#stopped) this.#stop();
    return settled;
  }

  #add(settlement: Settlement): void {
    this.list.push(settlement);
    const { subscription, delivery } = settlement;
    for (const one of this.#awaited) {
      if (one.subscription !== subscription || one.messageId !== delivery.messageId) continue;
      this.#awaited.delete(one);
      one.resolve(settlement);
    }
  }

  #stop(): void {
    this.#stopped = true;
    for (const { subscription, reject } of this.#awaited) {
      reject(new Error(texts.closedBeforeSettled(subscription.handler)));
    }
    this.#awaited.clear();
  }
}
