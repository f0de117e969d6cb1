/** Lets one call at a time through for each name. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `work` once all calls for the name before it have ended. */
  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.#last.set(name, turn);
    const ended = (): void => {
      if (this.#last.get(name) === turn) this.#last.delete(name);
    };
    turn.then(ended, ended);
    return turn;
  }
}
