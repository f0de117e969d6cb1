/** One run of a handler that has begun. */
export interface Run {
  readonly attempt: number;
  /** In ms since the epoch. */
  readonly at: number;
  /** The number of the instance that ran it. */
  readonly instance: number;
  succeeded: boolean;
}

/** Every run of a handler, by the number of its message. */
export class Ledger {
  readonly #runs = new Map<number, Run[]>();
  #successes = 0;

  /** How many runs there were. */
  runs = 0;

  /** How many runs succeeded, each one of a message counted. */
  get successes(): number {
    return this.#successes;
  }

  began(n: number, run: Omit<Run, 'succeeded'>): void {
    this.runs += 1;
    const runs = this.#runs.get(n);
    const begun = { ...run, succeeded: false };
    if (runs === undefined) this.#runs.set(n, [begun]);
    else runs.push(begun);
  }

  succeeded(n: number, attempt: number, instance: number): void {
    const isOpen = (run: Run): boolean =>
      run.attempt === attempt && run.instance === instance && !run.succeeded;
    const run = this.of(n).filter(isOpen).at(-1);
    if (run === undefined) throw new Error(`message ${n} succeeded without a run`);
    run.succeeded = true;
    this.#successes += 1;
  }

  /** The runs of a message, in the order in which they were reported. */
  of(n: number): readonly Run[] {
    return this.#runs.get(n) ?? [];
  }
}
