import type { Clock, Timer } from '../../lib/clock';

interface Call {
  readonly at: number;
  readonly work: () => void;
  readonly background: boolean;
}

// Read on load, since a test can install fake timers.
const { setImmediate } = globalThis;

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  // Not 0: a comparison with an unset time must not succeed by luck.
  #elapsed = 5_000;
  #wall: number;
  readonly #calls = new Set<Call>();
  #turn: (() => void)[] = [];

  constructor(wall = Date.parse('2024-05-01T12:00:00.000Z')) {
    this.#wall = wall;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  after(ms: number, work: () => void, options?: { readonly background?: boolean }): Timer {
    const at = this.#elapsed + Math.max(0, ms);
    const call: Call = { at, work, background: options?.background ?? false };
    this.#calls.add(call);
    return { cancel: () => this.#calls.delete(call) };
  }

  nextTurn(work: () => void): void {
    this.#turn.push(work);
  }

  /** In how many ms each pending call is due. */
  get pending(): readonly number[] {
    return [...this.#calls].map(({ at }) => at - this.#elapsed).sort((a, b) => a - b);
  }

  /** How many of the pending calls would keep the process alive. */
  get keepingAlive(): number {
    return [...this.#calls].filter(({ background }) => !background).length;
  }

  /** Sets the wall clock only, as an administrator or a time server does. */
  setWall(ms: number): void {
    this.#wall = ms;
  }

  /** Advances by `ms`; each call that becomes due runs at its own time, in order. */
  advance(ms: number): void {
    const end = this.#elapsed + ms;
    for (let call = this.#next(end); call !== undefined; call = this.#next(end)) this.#make(call);
    this.#moveTo(end);
  }

  /** Like `advance`, but promise callbacks run before the first call and after each. */
  async pass(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await this.endTurn();
    for (let call = this.#next(end); call !== undefined; call = this.#next(end)) {
      this.#make(call);
      await this.endTurn();
    }
    this.#moveTo(end);
  }

  /** Ends the turn of the event loop: runs promise callbacks, then the calls of `nextTurn`. */
  async endTurn(): Promise<void> {
    do {
      await new Promise((resolve) => setImmediate(resolve));
      const works = this.#turn;
      this.#turn = [];
      for (const work of works) work();
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#turn.length > 0);
  }

  #next(end: number): Call | undefined {
    let next: Call | undefined;
    for (const call of this.#calls) {
      if (call.at <= end && (next === undefined || call.at < next.at)) next = call;
    }
    return next;
  }

  #make(call: Call): void {
    this.#calls.delete(call);
    this.#moveTo(call.at);
    call.work();
  }

  #moveTo(time: number): void {
    this.#wall += time - this.#elapsed;
    this.#elapsed = time;
  }
}
