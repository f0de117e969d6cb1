import type { Clock, Timer } from '../clock';
import { type Linked, LinkedList } from '../linked-list';

/** One deadline, linked in the order in which they were set. */
export interface Deadline extends Linked<Deadline> {
  readonly at: number;
  readonly expire: () => void;
}

/**
 * The deadlines of one subscription's deliveries. Its timeout is the same for all, so the first that was
 * set is the first to expire, and one timer serves them all; there is no timer while no deadline is set.
 */
export class Deadlines {
  readonly #all = new LinkedList<Deadline>();
  #timer: Timer | undefined;

  /** @param span in ms, of each deadline. */
  constructor(
    private readonly clock: Clock,
    readonly span: number,
  ) {}

  /**
   * Sets a deadline; `expire` is called when it passes unless it is met before.
   * @param since its start, on the clock's monotonic scale; not before that of the previous deadline.
   */
  set(since: number, expire: () => void): Deadline {
    const at = since + this.span;
    const deadline: Deadline = { at, expire, previous: undefined, next: undefined };
    this.#all.add(deadline);
    if (this.#timer === undefined) this.#arm(at);
    return deadline;
  }

  /** Cancels a deadline; does nothing if it has expired or was met already. */
  met(deadline: Deadline): void {
    if (!this.#all.remove(deadline) || this.#all.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(at: number): void {
    // In the background: a handler that outlives the application does not keep the process alive.
    const options = { background: true };
    const ms = Math.max(0, at - this.clock.monotonic());
    this.#timer = this.clock.after(ms, () => this.#due(), options);
  }

  #due(): void {
    this.#timer = undefined;
    const now = this.clock.monotonic();
    for (let { first } = this.#all; first !== undefined && first.at <= now; { first } = this.#all) {
      this.#all.remove(first);
      first.expire();
    }
    const { first } = this.#all;
    if (first !== undefined && this.#timer === undefined) this.#arm(first.at);
  }
}
