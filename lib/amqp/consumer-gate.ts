import { type Clock, sleep } from '../clock';

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;

/**
 * Whether a consumer is to consume: not while it is paused, nor for a while after a message could not be
 * republished: 1 s, doubled each time, 1 min at most, until a message is republished again.
 */
export class ConsumerGate {
  #paused = false;
  #failures = 0;
  #pausedAfterFailure = false;

  constructor(
    private readonly clock: Clock,
    private readonly closing: AbortSignal,
    /** Makes the consumer follow `isOpen`. */
    private readonly apply: () => Promise<unknown>,
    /** Called with the length of a pause after a failure, in ms. */
    private readonly pausing: (ms: number) => void,
  ) {}

  get isOpen(): boolean {
    return !this.#paused && !this.#pausedAfterFailure && !this.closing.aborted;
  }

  async pause(): Promise<void> {
    this.#paused = true;
    await this.apply();
  }

  resume(): void {
    this.#paused = false;
    void this.apply();
  }

  /** A message was republished: the next failure pauses for the shortest time again. */
  republished(): void {
    this.#failures = 0;
  }

  /** Pauses the consumer for a while; resolves once it is cancelled. */
  async pauseAfterFailure(): Promise<void> {
    if (!this.#pausedAfterFailure) {
      this.#pausedAfterFailure = true;
      const ms = Math.min(FIRST_PAUSE * 2 ** this.#failures, LONGEST_PAUSE);
      this.#failures += 1;
      this.pausing(ms);
      void sleep(this.clock, ms, this.closing).then(() => {
        this.#pausedAfterFailure = false;
        void this.apply();
      });
    }
    await this.apply();
  }
}
