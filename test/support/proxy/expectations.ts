interface Expectation<Item> {
  readonly meets: (item: Item) => boolean;
  readonly resolve: (item: Item) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

export interface WaitOptions {
  /** How long to wait before the promise rejects, 5000 ms unless given. */
  readonly timeoutMs?: number;
}

/** Promises that wait for an item still to come. */
export class Expectations<Item> {
  private readonly pending = new Set<Expectation<Item>>();

  get isEmpty(): boolean {
    return this.pending.size === 0;
  }

  /** Resolves with the first offered item that meets the condition; rejects when time is up. */
  expect(
    meets: (item: Item) => boolean,
    { timeoutMs = 5000 }: WaitOptions,
    describe: () => string,
  ): Promise<Item> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.pending.delete(expectation);
        reject(new Error(`after ${timeoutMs} ms: ${describe()}`));
      }, timeoutMs);
      const expectation = { meets, resolve, reject, timer };
      this.pending.add(expectation);
    });
  }

  /** Shows an item to everything that waits. */
  offer(item: Item): void {
    for (const expectation of this.pending) {
      if (expectation.meets(item)) {
        this.pending.delete(expectation);
        clearTimeout(expectation.timer);
        expectation.resolve(item);
      }
    }
  }

  /** Rejects everything that waits. */
  abandon(reason: string): void {
    for (const expectation of this.pending) {
      clearTimeout(expectation.timer);
      expectation.reject(new Error(reason));
    }
    this.pending.clear();
  }
}
