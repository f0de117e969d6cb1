import type { Clock } from '../clock';

/** What has arrived and nobody has taken yet, in order. */
export class Arrivals<T> {
  #items: T[] = [];
  /** The index of the first item that is left. */
  #first = 0;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  get hasAny(): boolean {
    return this.#first < this.#items.length;
  }

  add(item: T): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** Nothing more arrives; the first error stays. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake?.();
  }

  /**
   * The next item, if there is one.
   * @throws what it has failed with, once nothing is left.
   */
  take(): T | undefined {
    const item = this.#items[this.#first];
    if (item === undefined) {
      if (this.#failure !== undefined) throw this.#failure.error;
      return undefined;
    }
    this.#first += 1;
    if (this.#first === this.#items.length || this.#first >= 1_024) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  /** The next item, if one arrives within `ms`. Rejects with what it has failed with. */
  within(clock: Clock, ms: number): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        timer.cancel();
        this.#wake = undefined;
        try {
          resolve(this.take());
        } catch (error) {
          reject(error);
        }
      };
      const timer = clock.after(ms, done);
      this.#wake = done;
    });
  }
}
