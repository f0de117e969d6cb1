interface Lane<T> {
  head: T;
  readonly rest: T[];
}

/** What has a key in common, in order: only the first of each key may begin. Pure. */
export class Lanes<T> {
  readonly #lanes = new Map<string, Lane<T>>();

  /** Adds to the end of a lane. Returns whether it is the first. */
  enter(key: string, one: T): boolean {
    const lane = this.#lanes.get(key);
    if (lane === undefined) this.#lanes.set(key, { head: one, rest: [] });
    else lane.rest.push(one);
    return lane === undefined;
  }

  /** Puts another in the place of the first of a lane. */
  replace(key: string, one: T): void {
    const lane = this.#lanes.get(key);
    if (lane !== undefined) lane.head = one;
  }

  /** Removes the first of a lane, and returns the one that is first now; `undefined` if there is none. */
  leave(key: string): T | undefined {
    const lane = this.#lanes.get(key);
    const next = lane?.rest.shift();
    if (lane === undefined || next === undefined) this.#lanes.delete(key);
    else lane.head = next;
    return next;
  }

  /** How many have a key. */
  sizeOf(key: string): number {
    const lane = this.#lanes.get(key);
    return lane === undefined ? 0 : 1 + lane.rest.length;
  }

  /** All keys. */
  get keys(): Iterable<string> {
    return this.#lanes.keys();
  }

  /** Removes all but those first ones that are to be kept. */
  clear(isKept: (head: T) => boolean): void {
    for (const [key, lane] of this.#lanes) {
      if (isKept(lane.head)) lane.rest.length = 0;
      else this.#lanes.delete(key);
    }
  }
}
