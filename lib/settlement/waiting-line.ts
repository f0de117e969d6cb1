import type { Clock, Timer } from '../clock';
import { type Rate, RateWindow } from './rate-window';

/** What holds work back. */
export interface LineLimits {
  /** How much may run at once; `undefined`: no limit. */
  readonly concurrency?: number | undefined;
  /** How often something may begin; `undefined`: no limit. */
  readonly rate?: Rate | undefined;
}

/** Work that has not begun, in the order of its arrival: begun as soon as the limits allow. */
export class WaitingLine<T> {
  readonly #concurrency: number;
  readonly #rate: RateWindow | undefined;
  #waiting: T[] = [];
  #running = 0;
  #isBeginning = false;
  #isHeld = false;
  #timer: Timer | undefined;

  /** @param begin begins one piece of work; `ended` follows, perhaps before it returns. Never throws. */
  constructor(
    { concurrency, rate }: LineLimits,
    private readonly clock: Clock,
    private readonly begin: (work: T) => void,
  ) {
    this.#concurrency = concurrency ?? Number.POSITIVE_INFINITY;
    this.#rate = rate && new RateWindow(rate);
  }

  /** How much waits. */
  get size(): number {
    return this.#waiting.length;
  }

  /** What waits, in order. */
  get list(): readonly T[] {
    return this.#waiting;
  }

  add(work: T): void {
    this.#waiting.push(work);
    this.#beginNext();
  }

  /** A piece of work that has begun no longer runs. */
  ended(): void {
    this.#running -= 1;
    this.#beginNext();
  }

  /** Removes what waits, and returns it in order. */
  clear(): readonly T[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#timer?.cancel();
    this.#timer = undefined;
    return waiting;
  }

  /** Begins nothing until `resume`. */
  hold(): void {
    this.#isHeld = true;
  }

  resume(): void {
    this.#isHeld = false;
    this.#beginNext();
  }

  #beginNext(): void {
    // Work that ends as it begins must not begin the next one on top of it.
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    while (this.#canBegin() && this.#isInRate()) {
      const [work] = this.#waiting.splice(0, 1) as [T];
      this.#running += 1;
      this.begin(work);
    }
    this.#isBeginning = false;
  }

  #canBegin(): boolean {
    return !this.#isHeld && this.#waiting.length > 0 && this.#running < this.#concurrency;
  }

  #isInRate(): boolean {
    if (this.#rate === undefined) return true;
    const now = this.clock.monotonic();
    const delay = this.#rate.delay(now);
    if (delay === 0) this.#rate.take(now);
    else this.#wait(delay);
    return delay === 0;
  }

  #wait(ms: number): void {
    this.#timer ??= this.clock.after(ms, () => {
      this.#timer = undefined;
      this.#beginNext();
    });
  }
}
