/** Random numbers that depend on nothing but a seed. */
export class Random {
  #state: number;

  constructor(readonly seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 up to, but without, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from one number to another, both included. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  pick<T>(from: readonly T[]): T {
    return from[this.integer(0, from.length - 1)]!;
  }
}

/** The seed that `FAULTS_SEED` gives, or a new one. */
export function seedOfRun(): number {
  const given = process.env['FAULTS_SEED'];
  return given ? Number(given) >>> 0 : Math.floor(Math.random() * 2 ** 32);
}
