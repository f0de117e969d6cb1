import type { Clock, Timer } from '../clock';
import { PAUSE_CAUSES, type PauseCause } from '../model/subscription-status';

/** One cause, from its beginning until it ends. */
interface Pause {
  /** On the monotonic scale; `undefined`: it does not end by itself. */
  readonly endsAt: number | undefined;
  readonly timer: Timer | undefined;
}

/** Why a subscription is paused: each cause begins and ends independently of the others. */
export class Pauses {
  readonly #pauses = new Map<PauseCause, Pause>();

  constructor(
    private readonly clock: Clock,
    /** Called with a cause that has ended by itself. */
    private readonly ended: (cause: PauseCause) => void,
  ) {}

  /** The most important cause; `undefined` if there is none. */
  get cause(): PauseCause | undefined {
    return PAUSE_CAUSES.find((cause) => this.#pauses.has(cause));
  }

  /** Whether this is the only cause. */
  isOnly(cause: PauseCause): boolean {
    return this.#pauses.size === 1 && this.has(cause);
  }

  has(cause: PauseCause): boolean {
    return this.#pauses.has(cause);
  }

  /**
   * Begins a pause, until `end` or for `ms`. One that has begun already is never cut short. Returns whether
   * this changes anything.
   */
  begin(cause: PauseCause, ms?: number): boolean {
    const before = this.#pauses.get(cause);
    const endsAt = ms === undefined ? undefined : this.clock.monotonic() + ms;
    if (before !== undefined && isNoLater(endsAt, before.endsAt)) return false;
    before?.timer?.cancel();
    const timer =
      ms === undefined
        ? undefined
        : this.clock.after(ms, () => {
            if (this.end(cause)) this.ended(cause);
          });
    this.#pauses.set(cause, { endsAt, timer });
    return true;
  }

  /** Ends a pause; returns whether there was one. */
  end(cause: PauseCause): boolean {
    this.#pauses.get(cause)?.timer?.cancel();
    return this.#pauses.delete(cause);
  }

  /** Leaves every cause as it is and forgets the timers. */
  stop(): void {
    for (const { timer } of this.#pauses.values()) timer?.cancel();
  }
}

function isNoLater(end: number | undefined, other: number | undefined): boolean {
  return other === undefined || (end !== undefined && end <= other);
}
