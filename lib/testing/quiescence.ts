import { systemClock } from '../clock';
import type { SubscriptionRegistry } from '../lifecycle/registry';
import type { SettlementEvents } from '../lifecycle/settlement-events';
import type { Quiet, TestBroker } from './test-broker';

/** After how many turns without any change nothing is under way by itself. */
const QUIET_TURNS = 4;
/** How long a running handler is taken to wait for something real rather than for time to pass, in ms. */
const HANDLER_PATIENCE = 25;
/** The same while the application closes: what a handler still does then is not cut short. */
const CLOSING_PATIENCE = 300;
/** Below the time limit of a test in Vitest and Jest, in ms. */
const LIMIT = 4_000;

/**
 * Knows when an application does nothing more by itself. Promises and turns of the event loop run on real
 * time: they are left to run until nothing changes. A running handler gets a moment for what it does, but
 * may as well wait for the clock that a test moves.
 */
export class Quiescence implements Quiet {
  #changes = 0;
  #seen = -1;
  #seenInFlight = 0;
  #patience = HANDLER_PATIENCE;
  #longestPatience = HANDLER_PATIENCE;

  constructor(
    private readonly broker: TestBroker,
    private readonly registry: SubscriptionRegistry,
    events: SettlementEvents,
  ) {
    events.subscribe({ next: () => this.changed() });
  }

  /** How many deliveries are in flight. */
  get inFlight(): number {
    return this.registry.list().reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  /** Something has happened that can set off more. */
  changed(): void {
    this.#changes += 1;
  }

  /** The application closes: from now on, running handlers get more time. */
  closing(): void {
    this.#longestPatience = CLOSING_PATIENCE;
    this.#patience = CLOSING_PATIENCE;
  }

  /** Resolves when nothing changes any more, or after 4 s. */
  async wait({ isLikely = true, signal }: Parameters<Quiet['wait']>[0] = {}): Promise<void> {
    const limit = systemClock.monotonic() + LIMIT;
    // One turn shows whether anything is under way: a long time has many thousands of steps.
    let quiet = isLikely ? 0 : QUIET_TURNS - 1;
    while (quiet < QUIET_TURNS || (this.inFlight > 0 && this.#patience > 0)) {
      if (quiet < QUIET_TURNS) await this.broker.turn();
      else await this.#waitForHandlers();
      if (signal?.aborted || systemClock.monotonic() > limit) return;
      const isQuiet = !this.#hasChanged() && (await this.broker.isSettled(this.#consumedQueues));
      quiet = isQuiet ? quiet + 1 : 0;
      if (!isQuiet) this.#patience = this.#longestPatience;
    }
  }

  #hasChanged(): boolean {
    const { inFlight } = this;
    const hasChanged = this.#changes !== this.#seen || inFlight !== this.#seenInFlight;
    this.#seen = this.#changes;
    this.#seenInFlight = inFlight;
    return hasChanged;
  }

  // Counted in timers that have run, not in time: under load a process stands still for longer than that.
  #waitForHandlers(): Promise<void> {
    this.#patience -= 1;
    return new Promise((resolve) => systemClock.after(1, resolve));
  }

  get #consumedQueues(): readonly string[] {
    return this.registry
      .list()
      .filter(({ state }) => state === 'consuming')
      .flatMap(({ subscription: { queue } }) => (queue === undefined ? [] : [queue]));
  }
}
