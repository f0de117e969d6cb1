/** Into how many slices a window is divided: what is forgotten is forgotten a slice at a time. */
const SLICES = 10;

/** How many attempts there were and how many of them failed. */
export interface Counts {
  readonly attempts: number;
  readonly failures: number;
}

interface Slice {
  /** Which one it is, counted from the zero of the time scale. */
  number: number;
  attempts: number;
  failures: number;
}

/**
 * Counts attempts over the last span of time, whatever happened before. What is older than the span by up to a
 * tenth of it can still be counted.
 */
export class SlidingWindow {
  readonly #sliceMs: number;
  // One more than there are in the window: it ends within a slice and begins within another.
  readonly #slices: Slice[] = [];

  constructor(windowMs: number) {
    this.#sliceMs = windowMs / SLICES;
    this.clear();
  }

  add(isFailure: boolean, now: number): void {
    const number = this.#numberOf(now);
    const index = number % this.#slices.length;
    let slice = this.#slices[index];
    if (slice?.number !== number) {
      slice = { number, attempts: 0, failures: 0 };
      this.#slices[index] = slice;
    }
    slice.attempts += 1;
    if (isFailure) slice.failures += 1;
  }

  counts(now: number): Counts {
    const oldest = this.#numberOf(now) - SLICES;
    let [attempts, failures] = [0, 0];
    for (const slice of this.#slices) {
      if (slice.number < oldest) continue;
      attempts += slice.attempts;
      failures += slice.failures;
    }
    return { attempts, failures };
  }

  clear(): void {
    const empty = { number: -1 - SLICES, attempts: 0, failures: 0 };
    this.#slices.splice(0, Number.POSITIVE_INFINITY, ...Array(SLICES + 1).fill(empty));
  }

  #numberOf(now: number): number {
    return Math.floor(now / this.#sliceMs);
  }
}
