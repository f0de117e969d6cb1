import type { Clock, Timer } from '../clock';

/** Calls back when the oldest unacknowledged delivery of a channel has been so for too long. */
export class AcknowledgementDeadline {
  readonly #since = new Map<number, number>();
  #timer: Timer | undefined;

  constructor(
    private readonly clock: Clock,
    /** In ms; infinite without a limit. */
    private readonly limitMs: number,
    private readonly overdue: (tag: number, ageMs: number) => void,
  ) {}

  delivered(tag: number): void {
    if (!Number.isFinite(this.limitMs)) return;
    this.#since.set(tag, this.clock.monotonic());
    if (this.#since.size === 1) this.#watch();
  }

  settled(tag: number): void {
    this.#since.delete(tag);
    if (this.#since.size === 0) this.stop();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #watch(): void {
    this.stop();
    const [oldest] = this.#since;
    if (oldest === undefined) return;
    const [tag, since] = oldest;
    const left = since + this.limitMs - this.clock.monotonic();
    const check = (): void => {
      if (this.#since.has(tag)) this.overdue(tag, this.clock.monotonic() - since);
      else this.#watch();
    };
    this.#timer = this.clock.after(left, check, { background: true });
  }
}
