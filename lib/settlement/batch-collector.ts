import type { Clock, Timer } from '../clock';

/** Collects what arrives, until there is enough of it or the first has waited for long enough. */
export class BatchCollector<T> {
  #collected: T[] = [];
  #timer: Timer | undefined;

  /**
   * @param wait how long the first of a batch waits at most, in ms.
   * @param complete called with each batch, of at most `size`. Never throws.
   */
  constructor(
    private readonly limits: { readonly size: number; readonly wait: number },
    private readonly clock: Clock,
    private readonly complete: (batch: readonly T[]) => void,
  ) {}

  /** What has been collected for the next batch, in order. */
  get list(): readonly T[] {
    return this.#collected;
  }

  add(one: T): void {
    this.#collected.push(one);
    if (this.#collected.length >= this.limits.size) return this.#flush();
    this.#timer ??= this.clock.after(this.limits.wait, () => this.#flush());
  }

  /** Removes what has been collected, and returns it in order. */
  clear(): readonly T[] {
    const collected = this.#collected;
    this.#collected = [];
    this.#timer?.cancel();
    this.#timer = undefined;
    return collected;
  }

  #flush(): void {
    this.complete(this.clear());
  }
}
