import type { Clock, Timer } from '../clock';

/** One deadline, linked in the order in which they were set. */
export interface Deadline {
  readonly at: number;
  readonly expire: () => void;
  previous: Deadline | undefined;
  next: Deadline | undefined;
  isOver: boolean;
}

/**
 * The deadlines of one subscription's deliveries. Its timeout is the same for all, so the first that was
 * set is the first to expire, and one timer serves them all; there is no timer while no deadline is set.
 */
export class Deadlines {
  #first: Deadline | undefined;
  #last: Deadline | undefined;
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
    const previous = this.#last;
    const at = since + this.span;
    const deadline: Deadline = { at, expire, previous, next: undefined, isOver: false };
    if (previous === undefined) this.#first = deadline;
    else previous.next = deadline;
    this.#last = deadline;
    if (this.#timer === undefined) this.#arm(at);
    return deadline;
  }

  /** Cancels a deadline; does nothing if it has expired or was met already. */
  met(deadline: Deadline): void {
    if (deadline.isOver) return;
    this.#remove(deadline);
    if (this.#first !== undefined) return;
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
    while (this.#first !== undefined && this.#first.at <= now) {
      const deadline = this.#first;
      this.#remove(deadline);
      deadline.expire();
    }
    if (this.#first !== undefined && this.#timer === undefined) this.#arm(this.#first.at);
  }

  #remove(deadline: Deadline): void {
    const { previous, next } = deadline;
    deadline.isOver = true;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
  }
}
