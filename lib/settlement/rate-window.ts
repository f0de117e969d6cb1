/** How often something may happen: at most `limit` times within any span of `per` ms. */
export interface Rate {
  readonly limit: number;
  readonly per: number;
}

/**
 * The times at which something last happened, as many as the limit. Exact: no span of `per` ms, wherever it
 * begins, holds more than `limit` of them. Pure.
 */
export class RateWindow {
  readonly #times: number[] = [];
  /** Where the oldest time is once the limit has been reached. */
  #oldest = 0;

  constructor(private readonly rate: Rate) {}

  /** After how many ms it may happen again; 0: now. */
  delay(now: number): number {
    const { limit, per } = this.rate;
    if (this.#times.length < limit) return 0;
    return Math.max(0, (this.#times[this.#oldest] ?? 0) + per - now);
  }

  /** It happens now. */
  take(now: number): void {
    this.#times[this.#oldest] = now;
    this.#oldest = (this.#oldest + 1) % this.rate.limit;
  }
}
