import type { Clock, Timer } from '../clock';

/** The timers of one queue. */
export class QueueTimers {
  readonly #delays = new Set<Timer>();
  #head: Timer | undefined;
  #expiry: Timer | undefined;

  constructor(private readonly clock: Clock) {}

  /** Calls `expired` when the message at the head expires; `undefined`: it does not. */
  watchHead(expiresAt: number | undefined, expired: () => void): void {
    this.#head?.cancel();
    this.#head = undefined;
    if (expiresAt === undefined) return;
    this.#head = this.clock.after(Math.max(0, expiresAt - this.clock.monotonic()), expired);
  }

  /** Calls `expired` when the queue has been unused for `ms`; `undefined`: never. */
  watchUse(ms: number | undefined, expired: () => void): void {
    this.#expiry?.cancel();
    this.#expiry = ms === undefined ? undefined : this.clock.after(ms, expired);
  }

  /** Calls `work` after `ms`, or at once if that is 0. */
  delay(ms: number, work: () => void): void {
    if (ms === 0) return work();
    const timer = this.clock.after(ms, () => {
      this.#delays.delete(timer);
      work();
    });
    this.#delays.add(timer);
  }

  /** Cancels all of them. */
  stop(): void {
    for (const timer of [this.#head, this.#expiry, ...this.#delays]) timer?.cancel();
  }
}
