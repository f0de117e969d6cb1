/** What a gate has decided on the frames behind it. */
export type GateState = 'closed' | 'open' | 'dropped';

/** Keeps frames back until it is settled, once: they go on, or are dropped. */
export class Gate {
  private current: GateState = 'closed';
  private waiting: (() => void)[] = [];

  get state(): GateState {
    return this.current;
  }

  /** Calls back when the gate is settled, at once if it is. */
  whenSettled(callback: () => void): void {
    if (this.current === 'closed') {
      this.waiting.push(callback);
    } else {
      callback();
    }
  }

  settle(state: 'open' | 'dropped'): void {
    if (this.current !== 'closed') {
      return;
    }
    this.current = state;
    const { waiting } = this;
    this.waiting = [];
    for (const callback of waiting) {
      callback();
    }
  }
}
