import { createHash } from 'node:crypto';
import type { DescribedLetter } from './describe';
import { normalisedMessage } from './normalise';

/**
 * Dead letters that failed in the same way.
 * @publicApi
 */
export interface DeadLetterGroup {
  /** Identifies the group: `where: { group: key }` selects its messages. */
  readonly key: string;
  /** Why they were dead-lettered. */
  readonly reason: string;
  /** The class of the error. */
  readonly errorName?: string | undefined;
  /** The message of the error, with `<n>` and `<id>` in the place of numbers and ids. */
  readonly errorMessage?: string | undefined;
  /** The class and method. */
  readonly handler?: string | undefined;
  /** How many messages. */
  readonly count: number;
  /** The time of the oldest failure. */
  readonly from?: Date | undefined;
  /** The time of the newest failure. */
  readonly to?: Date | undefined;
}

type Grouped = Pick<DescribedLetter, 'reason' | 'errorName' | 'errorMessage' | 'handler'>;
type Counted = Grouped & Pick<DescribedLetter, 'failedAt'>;

/** The key of the group that a dead letter belongs to. */
export function groupKeyOf(letter: Grouped): string {
  const { reason, errorName, handler } = letter;
  const parts = [reason, errorName ?? null, messageOf(letter) ?? null, handler ?? null];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
}

/** Counts dead letters by what they have failed with. */
export class DeadLetterGroups {
  readonly #groups = new Map<string, DeadLetterGroup>();

  add(letter: Counted): void {
    const key = groupKeyOf(letter);
    const { reason, errorName, handler, failedAt } = letter;
    const known = this.#groups.get(key);
    const group = known ?? {
      ...{ key, reason, errorName, handler, count: 0 },
      errorMessage: messageOf(letter),
    };
    this.#groups.set(key, {
      ...group,
      count: group.count + 1,
      from: earlier(group.from, failedAt),
      to: later(group.to, failedAt),
    });
  }

  /** The groups, the largest first; of equal size, the one that was met first. */
  get list(): readonly DeadLetterGroup[] {
    return [...this.#groups.values()].sort((one, other) => other.count - one.count);
  }
}

function messageOf({ errorMessage }: Grouped): string | undefined {
  return errorMessage === undefined ? undefined : normalisedMessage(errorMessage);
}

function earlier(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one <= other ? one : other;
}

function later(one: Date | undefined, other: Date | undefined): Date | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one >= other ? one : other;
}
