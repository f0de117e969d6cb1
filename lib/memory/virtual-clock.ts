import { type Clock, systemClock, type Timer } from '../clock';

interface Call {
  readonly at: number;
  readonly work: () => void;
  readonly background: boolean;
}

/**
 * A clock that stands still until it is moved. Later turns of the event loop are the real ones: only time
 * is virtual. A call that is due at once is made in the next turn, moved or not.
 */
export class VirtualClock implements Clock {
  #calls: Call[] = [];
  #now = 0;
  readonly #epoch = systemClock.now();

  now(): number {
    return this.#epoch + this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  after(ms: number, work: () => void, options?: { readonly background?: boolean }): Timer {
    const background = options?.background ?? false;
    const call: Call = { at: this.#now + Math.max(0, ms), work, background };
    this.#calls.push(call);
    if (ms <= 0) systemClock.nextTurn(() => this.moveTo(this.#now));
    return {
      cancel: () => {
        this.#calls = this.#calls.filter((one) => one !== call);
      },
    };
  }

  nextTurn(work: () => void): void {
    systemClock.nextTurn(work);
  }

  /** When the next call is due, on the scale of `monotonic`; `undefined` where none is. */
  get nextAt(): number | undefined {
    return this.#next()?.at;
  }

  /** Whether the next call is one in the background: one for which nobody waits. */
  get nextIsBackground(): boolean {
    return this.#next()?.background ?? false;
  }

  /** Moves to a point in time, never back, and makes the calls that are due by then, in order. */
  moveTo(time: number): void {
    const target = Math.max(this.#now, time);
    for (let call = this.#next(target); call !== undefined; call = this.#next(target)) {
      this.#now = Math.max(this.#now, call.at);
      const made = call;
      this.#calls = this.#calls.filter((one) => one !== made);
      made.work();
    }
    this.#now = target;
  }

  // The first of those that are due at once; of two at the same time the one that was asked for first.
  #next(target = Number.POSITIVE_INFINITY): Call | undefined {
    let next: Call | undefined;
    for (const call of this.#calls) {
      if (call.at <= target && (next === undefined || call.at < next.at)) next = call;
    }
    return next;
  }
}
