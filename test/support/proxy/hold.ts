import { Expectations, type WaitOptions } from './expectations';
import type { Frame } from './frames';
import type { Gate } from './gate';
import type { Rule } from './rules';

/** Frames that are kept back until the test lets them go. */
export class Hold {
  /** The matching frames caught so far. */
  readonly frames: Frame[] = [];
  private readonly expectations = new Expectations<number>();
  private rule: Rule | undefined;

  constructor(private readonly gate: Gate) {}

  /** Resolves with the caught frames as soon as there are `count` of them. */
  async caught(count: number, options: WaitOptions = {}): Promise<readonly Frame[]> {
    if (this.frames.length < count) {
      await this.expectations.expect(
        (caught) => caught >= count,
        options,
        () => `${this.frames.length} of ${count} frames are caught`,
      );
    }
    return this.frames.slice(0, count);
  }

  /** Ends the hold: everything kept back goes on, in order. */
  release(): void {
    this.end('open');
  }

  /** Ends the hold: the matching frames are lost with their content, those behind them go on. */
  drop(): void {
    this.end('dropped');
  }

  /** Ties the hold to the rule that feeds it. */
  attach(rule: Rule): void {
    this.rule = rule;
  }

  /** Takes note of a matching frame. */
  catch(frame: Frame): void {
    this.frames.push(frame);
    this.expectations.offer(this.frames.length);
  }

  /** Rejects every wait for frames still to come. */
  abandon(reason: string): void {
    this.expectations.abandon(reason);
  }

  private end(state: 'open' | 'dropped'): void {
    this.rule?.remove();
    this.gate.settle(state);
  }
}
