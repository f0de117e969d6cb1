import { DEFAULT_DELIVERY_LIMIT, isAtLeast, type ServerVersion } from '../amqp/queue-declarations';
import type { QueueTerms } from './queue-terms';
import type { ReturnKind } from './stored-message';

/** What becomes of a message that a full queue has no room for. */
export type Overflow = 'drop-head' | 'reject-publish' | 'reject-publish-dlx';

/** What a server of some version makes of a queue's arguments. */
export interface QueueRules {
  readonly isQuorum: boolean;
  /** Returns above it end a message; infinite where there is none. */
  readonly limit: number;
  /** Whether a message that is given back untried counts as failed. */
  readonly countsReleases: boolean;
  readonly ttl: number;
  readonly expires: number | undefined;
  readonly maxLength: number;
  readonly overflow: Overflow;
  readonly deadLetterExchange: string | undefined;
  readonly deadLetterRoutingKey: string | undefined;
  /** Whether a dead letter that nobody takes stays. */
  readonly keepsDeadLetters: boolean;
  /** Whether what is given back stands before the rest; if not, behind it. */
  readonly returnsToHead: boolean;
  /** The priority that counts for a message with this one. */
  priorityOf(given: unknown): number;
  /** How long the server delays what comes back, in ms. */
  delayOf(kind: ReturnKind, deliveryCount: number): number;
}

/** The rules of a queue. */
export function rulesOf({ arguments: args }: QueueTerms, version: ServerVersion): QueueRules {
  const number = (name: string): number | undefined =>
    typeof args[name] === 'number' ? (args[name] as number) : undefined;
  const text = (name: string): string | undefined =>
    typeof args[name] === 'string' ? (args[name] as string) : undefined;
  const isQuorum = args['x-queue-type'] === 'quorum';
  const limit = limitOf(isQuorum, number('x-delivery-limit'), version);
  return {
    isQuorum,
    limit,
    countsReleases: !isAtLeast(version, [4, 3]),
    ttl: number('x-message-ttl') ?? Number.POSITIVE_INFINITY,
    expires: number('x-expires'),
    maxLength: number('x-max-length') ?? Number.POSITIVE_INFINITY,
    overflow: overflowOf(isQuorum, text('x-overflow')),
    deadLetterExchange: text('x-dead-letter-exchange'),
    deadLetterRoutingKey: text('x-dead-letter-routing-key'),
    keepsDeadLetters:
      isQuorum &&
      text('x-dead-letter-strategy') === 'at-least-once' &&
      text('x-overflow') === 'reject-publish',
    returnsToHead: isAtLeast(version, [4, 3]) || Number.isFinite(limit),
    priorityOf: (given) => {
      const priority = typeof given === 'number' ? given : undefined;
      if (isQuorum) return quorumPriorityOf(priority, version);
      return Math.min(priority ?? 0, number('x-max-priority') ?? 0);
    },
    delayOf: (kind, deliveryCount) => {
      const type = text('x-delayed-retry-type');
      const isDelayed =
        type === 'all' || type === (kind === 'requeueUnprocessed' ? 'returned' : 'failed');
      if (!isQuorum || !isDelayed || !isAtLeast(version, [4, 3])) return 0;
      // What is given back untried is not counted, and waits the shortest time.
      const least = (number('x-delayed-retry-min') ?? 0) * Math.max(1, deliveryCount);
      return Math.min(least, number('x-delayed-retry-max') ?? Number.POSITIVE_INFINITY);
    },
  };
}

// From 4.0 on there is a limit by default, and -1 takes it away; before, -1 is a limit below any return.
function limitOf(isQuorum: boolean, given: number | undefined, version: ServerVersion): number {
  if (!isQuorum) return Number.POSITIVE_INFINITY;
  const isModern = isAtLeast(version, [4, 0]);
  if (given === undefined) return isModern ? DEFAULT_DELIVERY_LIMIT : Number.POSITIVE_INFINITY;
  return given < 0 && isModern ? Number.POSITIVE_INFINITY : given;
}

// None before 4.0, then high and normal, from 4.3 on as many as there are numbers.
function quorumPriorityOf(given = 4, version: ServerVersion): number {
  if (isAtLeast(version, [4, 3])) return given;
  return isAtLeast(version, [4, 0]) && given > 4 ? 1 : 0;
}

function overflowOf(isQuorum: boolean, given: string | undefined): Overflow {
  if (given === 'reject-publish') return given;
  return given === 'reject-publish-dlx' && !isQuorum ? given : 'drop-head';
}
