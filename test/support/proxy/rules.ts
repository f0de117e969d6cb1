import type { Frame, FramePredicate } from './frames';
import type { Gate } from './gate';

/** What goes out in place of a frame. Each buffer holds whole frames. */
export interface Replacement {
  /** Goes on in the frame's own direction, in its place. */
  readonly onward?: readonly Buffer[];
  /** Goes back to whoever has sent the frame. */
  readonly back?: readonly Buffer[];
}

/** Makes the replacement of a frame; `bytes` are the frame's own, its content included. */
export type Replace = (frame: Frame, bytes: Buffer) => Replacement;

/** What becomes of a frame that a rule matches. */
export type Treatment =
  | { readonly kind: 'hold'; readonly gate: Gate; readonly onlyMatching: boolean }
  | { readonly kind: 'drop'; readonly withContent: boolean }
  | { readonly kind: 'cut'; readonly before: boolean }
  | { readonly kind: 'rewrite'; readonly replace: Replace };

export interface RuleOptions {
  /** After this many matching frames, the rule removes itself. */
  readonly times?: number;
}

export interface OrderOptions extends RuleOptions {
  /** Lets the frames that follow overtake the matching ones. */
  readonly onlyMatching?: boolean;
}

export interface CutOptions {
  /** Cuts before the frame is passed on, so that the other side never sees it; or after that. */
  readonly before: boolean;
  /** How many matching frames cut their connection: 1 unless given. */
  readonly times?: number;
}

export interface DropOptions extends RuleOptions {
  /** Whether the content that follows the method is dropped too: `true` unless given. */
  readonly withContent?: boolean;
}

/** A rule that is in force until it is removed. */
export interface Rule {
  /** How many frames the rule has matched. */
  readonly matched: number;
  /** Takes the rule out of force. Frames it has matched already keep their treatment. */
  remove(): void;
}

interface RuleEntry extends Rule {
  matched: number;
  readonly predicate: FramePredicate;
  readonly treat: (frame: Frame) => Treatment;
  readonly times: number;
}

/** The rules in force. The first one that matches a frame decides on it. */
export class RuleBook {
  private rules: readonly RuleEntry[] = [];

  get isEmpty(): boolean {
    return this.rules.length === 0;
  }

  /** Adds a rule behind all others. */
  add(
    predicate: FramePredicate,
    treat: (frame: Frame) => Treatment,
    { times = Number.POSITIVE_INFINITY }: RuleOptions,
  ): Rule {
    const rule = this.entry(predicate, treat, times);
    this.rules = [...this.rules, rule];
    return rule;
  }

  /** Adds a rule ahead of all others. */
  addFirst(predicate: FramePredicate, treat: (frame: Frame) => Treatment): Rule {
    const rule = this.entry(predicate, treat, Number.POSITIVE_INFINITY);
    this.rules = [rule, ...this.rules];
    return rule;
  }

  decide(frame: Frame): Treatment | undefined {
    const rule = this.rules.find((candidate) => candidate.predicate(frame));
    if (rule === undefined) {
      return undefined;
    }
    rule.matched += 1;
    if (rule.matched >= rule.times) {
      rule.remove();
    }
    return rule.treat(frame);
  }

  clear(): void {
    this.rules = [];
  }

  private entry(
    predicate: FramePredicate,
    treat: (frame: Frame) => Treatment,
    times: number,
  ): RuleEntry {
    const rule: RuleEntry = {
      matched: 0,
      predicate,
      treat,
      times,
      remove: () => {
        this.rules = this.rules.filter((other) => other !== rule);
      },
    };
    return rule;
  }
}
