import { Expectations, type WaitOptions } from './expectations';
import type { Direction, Frame, FramePredicate } from './frames';
import type { FrameName } from './methods';

export interface FrameWaitOptions extends WaitOptions {
  /** Looks only at frames that arrive after the call, not at recorded ones. */
  readonly onlyNew?: boolean;
  /** Waits for this many matching frames and resolves with the last of them; 1 unless given. */
  readonly count?: number;
}

/** The frames that have arrived, their number by method, and waiting for those still to come. */
export class FrameLog {
  /** While `false`, frames are counted but not kept. */
  recording = true;
  private recorded: Frame[] = [];
  private counts = { client: new Map<FrameName, number>(), server: new Map<FrameName, number>() };
  private readonly expectations = new Expectations<Frame>();

  get frames(): readonly Frame[] {
    return this.recorded;
  }

  /** Whether `add` needs the frame; counting alone does not. */
  get needsFrames(): boolean {
    return this.recording || !this.expectations.isEmpty;
  }

  tally(direction: Direction, name: FrameName): void {
    const counts = this.counts[direction];
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  add(frame: Frame): void {
    if (this.recording) {
      this.recorded.push(frame);
    }
    this.expectations.offer(frame);
  }

  count(direction: Direction, name: FrameName): number {
    return this.counts[direction].get(name) ?? 0;
  }

  clear(): void {
    this.recorded = [];
    this.counts = { client: new Map(), server: new Map() };
  }

  waitFor(predicate: FramePredicate, options: FrameWaitOptions = {}): Promise<Frame> {
    const { onlyNew = false, count = 1 } = options;
    let missing = count;
    const meets: FramePredicate = (frame) => {
      if (predicate(frame)) {
        missing -= 1;
      }
      return missing <= 0;
    };
    const recorded = onlyNew ? undefined : this.recorded.find(meets);
    if (recorded !== undefined) {
      return Promise.resolve(recorded);
    }
    return this.expectations.expect(meets, options, () => {
      const seen = count - missing;
      return `${seen} of ${count} awaited frames have arrived; ${this.describeLast()}`;
    });
  }

  abandon(reason: string): void {
    this.expectations.abandon(reason);
  }

  private describeLast(): string {
    const last = this.recorded.slice(-10).map(describeFrame);
    return last.length === 0 ? 'no frame is recorded' : `the last frames are ${last.join(', ')}`;
  }
}

function describeFrame({ direction, connection, channel, method }: Frame): string {
  return `${direction} ${method} (connection ${connection}, channel ${channel})`;
}
