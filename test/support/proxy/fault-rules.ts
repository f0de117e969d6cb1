import { type CloseArguments, channelClose } from './build';
import type { Direction, Frame, FramePredicate } from './frames';
import { Gate } from './gate';
import { Hold } from './hold';
import type { CutOptions, DropOptions, OrderOptions, Replace, Rule, RuleOptions } from './rules';
import { RuleBook } from './rules';

/**
 * The faults a test can put between two frames. A rule is in force from the call on, for every
 * connection. When several match a frame, the one added first decides, alone. What a rule does to
 * a method with content, it does to the whole content.
 */
export abstract class FaultRules {
  protected readonly rules = new RuleBook();
  private readonly holds = new Set<Hold>();
  private readonly delays = new Map<Gate, NodeJS.Timeout>();

  /**
   * Keeps matching frames back, and with them everything that follows in the same direction of
   * the same connection, heartbeats and the end of the stream included. With `onlyMatching`, just
   * the matching frames are kept back and sent, when released, behind what has overtaken them.
   */
  hold(predicate: FramePredicate, options: OrderOptions = {}): Hold {
    const gate = new Gate();
    const hold = new Hold(gate);
    const treat = (frame: Frame) => {
      hold.catch(frame);
      return { kind: 'hold', gate, onlyMatching: options.onlyMatching ?? false } as const;
    };
    hold.attach(this.rules.add(predicate, treat, options));
    this.holds.add(hold);
    return hold;
  }

  /** Keeps every matching frame back for this long; else like `hold`. */
  delay(predicate: FramePredicate, milliseconds: number, options: OrderOptions = {}): Rule {
    const treat = () => {
      const gate = new Gate();
      const pass = () => {
        this.delays.delete(gate);
        gate.settle('open');
      };
      this.delays.set(gate, setTimeout(pass, milliseconds));
      return { kind: 'hold', gate, onlyMatching: options.onlyMatching ?? false } as const;
    };
    return this.rules.add(predicate, treat, options);
  }

  /** Loses matching frames. */
  drop(predicate: FramePredicate, options: DropOptions = {}): Rule {
    const { withContent = true } = options;
    return this.rules.add(predicate, () => ({ kind: 'drop', withContent }), options);
  }

  /**
   * Cuts the connection of a matching frame, both its sides: before the frame is passed on, or
   * after it and its content. What a hold or a pause keeps back then is lost, except that a frame
   * to cut after waits its turn. It is cut once, or as often as `times` says, so that
   * `cutWhen(fromClient('protocol.header'), { before: true, times: 3 })` ends the next three
   * connections.
   */
  cutWhen(predicate: FramePredicate, { before, times = 1 }: CutOptions): Rule {
    return this.rules.add(predicate, () => ({ kind: 'cut', before }), { times });
  }

  /**
   * Replaces matching frames, their content included, by others in either direction. What the
   * receivers answer passes on like any other frame; where the other side does not expect the
   * answer, as RabbitMQ no `channel.close-ok`, another rule has to drop it.
   */
  rewrite(predicate: FramePredicate, replace: Replace, options: RuleOptions = {}): Rule {
    return this.rules.add(predicate, () => ({ kind: 'rewrite', replace }), options);
  }

  /**
   * Answers a matching frame the way a broker does that closes the channel because of it. The
   * broker is told to close the channel too and never sees the frame; the rest of the connection
   * goes on.
   */
  failChannel(predicate: FramePredicate, reason: CloseArguments, options: RuleOptions = {}): Rule {
    const replace: Replace = ({ connection, channel }) => {
      this.silenceUntilClosed('client', connection, channel);
      this.silenceUntilClosed('server', connection, channel);
      const close = [channelClose(channel, reason)];
      return { onward: close, back: close };
    };
    return this.rewrite(predicate, replace, options);
  }

  /** Ends every rule: frames kept back go on. */
  protected endRules(): void {
    this.rules.clear();
    for (const [gate, timer] of this.delays) {
      clearTimeout(timer);
      gate.settle('open');
    }
    this.delays.clear();
    for (const hold of this.holds) {
      hold.release();
    }
    this.holds.clear();
  }

  /** Rejects what tests still wait for, and keeps no timer. */
  protected abandonRules(reason: string): void {
    for (const hold of this.holds) {
      hold.abandon(reason);
    }
    this.endRules();
  }

  /** Loses what one side sends on a channel, up to its `channel.close-ok`. */
  private silenceUntilClosed(direction: Direction, connection: number, channel: number): void {
    const isMeant: FramePredicate = (frame) =>
      frame.direction === direction &&
      frame.connection === connection &&
      frame.channel === channel &&
      frame.method !== 'content.header' &&
      frame.method !== 'content.body';
    const rule = this.rules.addFirst(isMeant, (frame) => {
      if (frame.method === 'channel.close-ok') {
        rule.remove();
      }
      return { kind: 'drop', withContent: true };
    });
  }
}
