import { type Counts, SlidingWindow } from './sliding-window';

/** When a kill switch trips and for how long, in ms. */
export interface KillSwitchLimits {
  /** The share of failures at which it trips, above 0 and at most 1. */
  readonly failures: number;
  /** How many attempts the window has to hold. */
  readonly minimum: number;
  readonly window: number;
  readonly pause: number;
  /** The longest pause, at least `pause`. */
  readonly max: number;
}

/** What an attempt says about what its handler depends on; `neutral`: nothing. */
export type AttemptResult = 'success' | 'failure' | 'neutral';

/**
 * What a kill switch does with messages:
 * - `closed`: they are handled;
 * - `tripped`: none is;
 * - `probing`: one at a time, until one succeeds or fails.
 */
export type KillSwitchState = 'closed' | 'tripped' | 'probing';

/** What the result of an attempt changes; `tripped` with the length of the pause. */
export type KillSwitchChange =
  | { readonly to: 'tripped'; readonly pauseMs: number; readonly counts: Counts }
  | { readonly to: 'closed' };

/**
 * The state machine of a kill switch: a function of the results of attempts, in their order, and of the time.
 * It trips when the window holds enough attempts of which too many failed. After a pause it probes: a success
 * closes it, a failure trips it again for twice as long, up to a maximum. All times are on one monotonic scale,
 * in ms.
 */
export class KillSwitch {
  readonly #window: SlidingWindow;
  #state: KillSwitchState = 'closed';
  #pauseMs: number;
  /** Attempts that began before are none of the probe. */
  #probingSince = 0;

  constructor(private readonly limits: KillSwitchLimits) {
    this.#window = new SlidingWindow(limits.window);
    this.#pauseMs = limits.pause;
  }

  get state(): KillSwitchState {
    return this.#state;
  }

  /**
   * An attempt has ended.
   * @param startedAt when its handler was called.
   */
  ended(result: AttemptResult, startedAt: number, now: number): KillSwitchChange | undefined {
    if (this.#state === 'tripped') return undefined;
    if (this.#state === 'probing') {
      if (result === 'neutral' || startedAt < this.#probingSince) return undefined;
      if (result === 'success') return this.close();
      this.#pauseMs = Math.min(2 * this.#pauseMs, this.limits.max);
      return this.#trip({ attempts: 1, failures: 1 });
    }
    if (result === 'neutral') return undefined;
    this.#window.add(result === 'failure', now);
    if (result === 'success') return undefined;
    const counts = this.#window.counts(now);
    return this.#isTooMany(counts) ? this.#trip(counts) : undefined;
  }

  /** Trips whatever the window holds; `undefined` if it is not closed. */
  trip(): KillSwitchChange | undefined {
    if (this.#state !== 'closed') return undefined;
    return this.#trip({ attempts: 0, failures: 0 });
  }

  /** The pause is over. */
  probe(now: number): void {
    if (this.#state !== 'tripped') return;
    this.#state = 'probing';
    this.#probingSince = now;
  }

  /** Handles messages again, as if nothing had failed; `undefined` if it is closed. */
  close(): KillSwitchChange | undefined {
    if (this.#state === 'closed') return undefined;
    this.#state = 'closed';
    this.#window.clear();
    this.#pauseMs = this.limits.pause;
    return { to: 'closed' };
  }

  #isTooMany({ attempts, failures }: Counts): boolean {
    const { minimum, failures: share } = this.limits;
    return attempts >= minimum && failures >= share * attempts;
  }

  #trip(counts: Counts): KillSwitchChange {
    this.#state = 'tripped';
    return { to: 'tripped', pauseMs: this.#pauseMs, counts };
  }
}
