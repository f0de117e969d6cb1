const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 30_000;
/** How long a channel is open before it counts as stable, in ms. */
const STABLE_AFTER = 10_000;
/** The same for a channel that closed while a redelivered message was being processed. */
const STABLE_WITH_SUSPECT_AFTER = 60_000;

/** What is known of a channel that has closed. */
export interface ClosedChannel {
  /** How long it was open, in ms. */
  readonly ageMs: number;
  /** Whether any of its deliveries was settled. */
  readonly hasSettled: boolean;
  /** Whether the delivery that was unsettled for longest was a redelivery; `undefined` if there was none. */
  readonly isOldestRedelivered: boolean | undefined;
  /** Whether it was closed on purpose, to return what it held. */
  readonly isReturned?: boolean;
}

/**
 * How long to wait before the next channel is opened: twice as long after each channel that closed before it
 * proved to be of use. Consuming alone proves nothing: a message that ends its channel is redelivered at
 * once. A channel that settled deliveries does, unless a redelivered message was unsettled when it closed,
 * which may be the one that ends its channels.
 */
export class ReconnectPause {
  #failures = 0;

  /** A channel has closed. */
  closed({ ageMs, hasSettled, isOldestRedelivered, isReturned = false }: ClosedChannel): void {
    const wasStable = isOldestRedelivered
      ? ageMs >= STABLE_WITH_SUSPECT_AFTER
      : hasSettled || ageMs >= STABLE_AFTER;
    if (wasStable || isReturned) this.#failures = 0;
  }

  /** The length of the next pause, in ms: random, so that instances do not reconnect together. */
  next(): number {
    const longest = Math.min(FIRST_PAUSE * 2 ** this.#failures, LONGEST_PAUSE);
    this.#failures += 1;
    return longest * (0.5 + Math.random() / 2);
  }
}
