import { type Clock, pause } from '../clock';

const FIRST_BACK_OFF = 1_000;
const LONGEST_BACK_OFF = 60_000;

/**
 * Whether a consumer is to take messages in: not while it is paused, nor for a while after a copy has
 * failed: 1 s, doubled each time, 1 min at most, until a copy goes through again.
 */
export class Intake {
  #paused = false;
  #backOffs = 0;
  #backingOff = false;

  constructor(
    private readonly clock: Clock,
    private readonly closing: AbortSignal,
    /** Makes the consumer be as `isOpen` says. */
    private readonly apply: () => Promise<unknown>,
    /** Is told how long the intake stops after a failed copy. */
    private readonly backsOff: (ms: number) => void,
  ) {}

  get isOpen(): boolean {
    return !this.#paused && !this.#backingOff && !this.closing.aborted;
  }

  async pause(): Promise<void> {
    this.#paused = true;
    await this.apply();
  }

  resume(): void {
    this.#paused = false;
    void this.apply();
  }

  /** A copy has gone through: the next failure waits the shortest time again. */
  copied(): void {
    this.#backOffs = 0;
  }

  /** Stops the intake for a while; resolves once it has stopped. */
  async backOff(): Promise<void> {
    if (!this.#backingOff) {
      this.#backingOff = true;
      const ms = Math.min(FIRST_BACK_OFF * 2 ** this.#backOffs, LONGEST_BACK_OFF);
      this.#backOffs += 1;
      this.backsOff(ms);
      void pause(this.clock, ms, this.closing).then(() => {
        this.#backingOff = false;
        void this.apply();
      });
    }
    await this.apply();
  }
}
