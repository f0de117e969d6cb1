import { headerOf, SettleHeaders } from '../delivery/headers';
import type { SettlementEvents } from '../lifecycle/settlement-events';
import { texts } from '../log/texts';
import type { Settlement } from '../model/settlement';
import type { SubscriptionMetadata } from '../model/subscription-metadata';

/** A message as a test has published it. */
export interface PublishedByTest {
  readonly subscription: SubscriptionMetadata;
  readonly messageId: unknown;
  /** The attempt in its headers; a republished message has another. */
  readonly attempt: unknown;
}

interface PendingSettlement {
  readonly message: PublishedByTest;
  resolve(settlement: Settlement): void;
  reject(reason: Error): void;
}

/** The settlements of an application so far, and those that a test waits for. */
export class SettlementRecord {
  readonly list: Settlement[] = [];
  readonly #awaited = new Set<PendingSettlement>();
  #isComplete = false;

  constructor(events: SettlementEvents) {
    events.subscribe({
      next: (settlement) => this.#add(settlement),
      complete: () => this.#complete(),
    });
  }

  /** Whether the application has closed: there is no further settlement. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /**
   * Resolves with the first settlement of a message as it was published, whatever becomes of its retries;
   * rejects if the application closes before. It is no fault if nobody awaits it.
   */
  next(message: PublishedByTest): Promise<Settlement> {
    const settled = new Promise<Settlement>((resolve, reject) => {
      this.#awaited.add({ message, resolve, reject });
    });
    settled.catch(() => undefined);
    if (this.#isComplete) this.#complete();
    return settled;
  }

  #add(settlement: Settlement): void {
    this.#insert(settlement);
    for (const one of this.#awaited) {
      if (!isOf(settlement, one.message)) continue;
      this.#awaited.delete(one);
      one.resolve(settlement);
      return;
    }
  }

  // A retried message can be settled before the delivery that published it is acknowledged.
  #insert(settlement: Settlement): void {
    const [last, before] = this.list
      .filter((one) => isSameMessage(one, settlement))
      .slice(-2)
      .reverse();
    const isNext =
      last?.attempt === settlement.attempt + 1 && before?.attempt !== settlement.attempt;
    const index = isNext ? this.list.lastIndexOf(last) : this.list.length;
    this.list.splice(index, 0, settlement);
  }

  #complete(): void {
    this.#isComplete = true;
    for (const { message, reject } of this.#awaited) {
      reject(new Error(texts.closedBeforeSettled(message.subscription.handler)));
    }
    this.#awaited.clear();
  }
}

function isOf({ subscription, delivery }: Settlement, message: PublishedByTest): boolean {
  return (
    subscription === message.subscription &&
    delivery.messageId === message.messageId &&
    headerOf(delivery.headers, SettleHeaders.attempt) === message.attempt
  );
}

function isSameMessage(one: Settlement, other: Settlement): boolean {
  const { messageId } = other.delivery;
  return (
    messageId !== undefined &&
    one.delivery.messageId === messageId &&
    one.subscription === other.subscription
  );
}
