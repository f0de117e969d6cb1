import { type Clock, within } from '../clock';

/** Lets one at a time do something, in the order in which they ask. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  constructor(private readonly clock: Clock) {}

  /**
   * Resolves with a function that ends the turn; `undefined` if the turn does not come within `limitMs`, or
   * `signal` has aborted before it comes.
   */
  async take(limitMs: number, signal: AbortSignal): Promise<(() => void) | undefined> {
    const before = this.#last;
    let end = (): void => {};
    this.#last = new Promise((resolve) => {
      end = resolve;
    });
    const isMine = await within(this.clock, limitMs, before, signal);
    if (isMine && !signal.aborted) return end;
    void before.then(end);
    return undefined;
  }
}
