import { comparedArgumentsOf } from '../amqp/compared-arguments';
import { DEFAULT_DELIVERY_LIMIT, isAtLeast, type ServerVersion } from '../amqp/queue-declarations';
import { queueTypeOf } from './queue-arguments';
import type { QueueProperties } from './queue-properties';
import type { ReturnKind, StorageRules, StoredMessage, Table } from './stored-message';
import { propertyBytesOf } from './wire-properties';

/** What happens to a message for which a queue has no room. */
export type Overflow = 'drop-head' | 'reject-publish' | 'reject-publish-dlx';

/** What a server of some version makes of a queue's arguments. */
export interface QueueRules extends StorageRules {
  readonly type: 'classic' | 'quorum';
  /** The arguments that are compared when the queue is declared again. */
  readonly comparedArguments: readonly string[];
  /** The delivery limit: above it, a returned message is dead-lettered; infinite if there is none. */
  readonly limit: number;
  readonly expires: number | undefined;
  readonly maxLength: number;
  readonly maxBytes: number;
  readonly overflow: Overflow;
  readonly deadLetterExchange: string | undefined;
  readonly deadLetterRoutingKey: string | undefined;
  /** Whether a dead letter that no queue takes is kept. */
  readonly keepsDeadLetters: boolean;
  /** Whether requeued messages are put before the rest; if not, behind it. */
  readonly returnsToHead: boolean;
  /** Whether every third message is one of normal priority, however many of high priority are ready. */
  readonly sharesPriorities: boolean;
  /** Whether a message whose acknowledgement takes too long is requeued before its channel closes. */
  readonly requeuesOverdue: boolean;
  /** Within how many ms a consumer must acknowledge; infinite without a limit. */
  acknowledgementLimitOf(consumerArguments: Table): number;
  /** The broker's counts in the headers of a delivery. */
  countHeadersOf(message: StoredMessage): Record<string, number>;
  /** Whether a return counts as a failed delivery. */
  counts(kind: ReturnKind): boolean;
  /** How long the server delays a returned message, in ms. */
  delayOf(kind: ReturnKind, deliveryCount: number): number;
}

/** RabbitMQ's default, in ms. */
const ACKNOWLEDGEMENT_LIMIT = 1_800_000;
const HIGHEST_QUORUM_PRIORITY = 31;

/** The rules of a queue. */
export function rulesOf(properties: QueueProperties, version: ServerVersion): QueueRules {
  const { arguments: args } = properties;
  const number = (name: string): number | undefined => {
    const value = args[name];
    return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
  };
  const text = (name: string): string | undefined => {
    const value = args[name];
    return typeof value === 'string' ? value : undefined;
  };
  const type = queueTypeOf(properties);
  const isQuorum = type === 'quorum';
  const limit = limitOf(isQuorum, number('x-delivery-limit'), version);
  return {
    type,
    comparedArguments: comparedArgumentsOf(type, version),
    limit,
    ttl: number('x-message-ttl') ?? Number.POSITIVE_INFINITY,
    expires: number('x-expires'),
    maxLength: number('x-max-length') ?? Number.POSITIVE_INFINITY,
    maxBytes: number('x-max-length-bytes') ?? Number.POSITIVE_INFINITY,
    overflow: overflowOf(isQuorum, text('x-overflow')),
    deadLetterExchange: text('x-dead-letter-exchange'),
    deadLetterRoutingKey: text('x-dead-letter-routing-key'),
    keepsDeadLetters:
      isQuorum &&
      text('x-dead-letter-strategy') === 'at-least-once' &&
      text('x-overflow') === 'reject-publish',
    returnsToHead: isAtLeast(version, [4, 3]) || Number.isFinite(limit),
    sharesPriorities: isQuorum && !isAtLeast(version, [4, 3]),
    requeuesOverdue: isAtLeast(version, [4, 3]),
    acknowledgementLimitOf: (own) => acknowledgementLimitOf(isQuorum, args, own, version),
    countHeadersOf: (message) => (isQuorum ? countHeadersOf(message, version) : {}),
    counts: (kind) => countsReturn(kind, version),
    bytesOf: ({ body, properties: own, headers }) => {
      const isWhole = isQuorum && isAtLeast(version, [4, 3]);
      return body.length + (isWhole ? propertyBytesOf(own, headers) : 0);
    },
    priorityOf: (given) => {
      const priority = typeof given === 'number' ? given : undefined;
      if (isQuorum) return quorumPriorityOf(priority, version);
      return Math.min(priority ?? 0, number('x-max-priority') ?? 0);
    },
    delayOf: (kind, deliveryCount) => {
      const delayed = text('x-delayed-retry-type');
      const isFailed = kind === 'requeueFailed' || kind === 'channelClosed';
      const shortest = number('x-delayed-retry-min') ?? 0;
      const isDelayed = delayed === 'all' || delayed === (isFailed ? 'failed' : 'returned');
      if (!isQuorum || !isDelayed || !isAtLeast(version, [4, 3]) || shortest <= 0) return 0;
      const given = number('x-delayed-retry-max');
      const longest = given !== undefined && given > 0 ? given : shortest;
      // What is requeued without an attempt is not counted, and waits for the shortest time.
      return Math.min(shortest * Math.max(1, deliveryCount), longest);
    },
  };
}

// From 4.0 on there is a limit by default, and -1 removes it; before, -1 is a limit below any return.
function limitOf(isQuorum: boolean, given: number | undefined, version: ServerVersion): number {
  if (!isQuorum) return Number.POSITIVE_INFINITY;
  const isModern = isAtLeast(version, [4, 0]);
  if (given === undefined) return isModern ? DEFAULT_DELIVERY_LIMIT : Number.POSITIVE_INFINITY;
  return given < 0 && isModern ? Number.POSITIVE_INFINITY : given;
}

// From 4.3 on, only a failed attempt and a closed channel count.
function countsReturn(kind: ReturnKind, version: ServerVersion): boolean {
  if (!isAtLeast(version, [4, 3])) return true;
  return kind === 'requeueFailed' || kind === 'channelClosed';
}

// Before 4.0 the limit is the server's alone; from 4.3 on it is for quorum queues only, and a consumer's
// own goes before the queue's.
function acknowledgementLimitOf(
  isQuorum: boolean,
  queueArguments: Table,
  consumerArguments: Table,
  version: ServerVersion,
): number {
  const isNewest = isAtLeast(version, [4, 3]);
  if (!isQuorum && isNewest) return Number.POSITIVE_INFINITY;
  const own = isNewest ? consumerArguments['x-consumer-timeout'] : undefined;
  const declared = isAtLeast(version, [4, 0]) ? queueArguments['x-consumer-timeout'] : undefined;
  const limit = own ?? declared;
  return typeof limit === 'number' ? limit : ACKNOWLEDGEMENT_LIMIT;
}

// A message that never returned has none; the count of all returns is reported from 4.3 on.
function countHeadersOf(
  { redelivered, deliveryCount, acquiredCount }: StoredMessage,
  version: ServerVersion,
): Record<string, number> {
  if (!redelivered) return {};
  return {
    ...(deliveryCount > 0 && { 'x-delivery-count': deliveryCount }),
    ...(acquiredCount > 0 && isAtLeast(version, [4, 3]) && { 'x-acquired-count': acquiredCount }),
  };
}

// There are none before 4.0, then high and normal, and 32 from 4.3 on.
function quorumPriorityOf(given = 4, version: ServerVersion): number {
  if (isAtLeast(version, [4, 3])) return Math.min(given, HIGHEST_QUORUM_PRIORITY);
  return isAtLeast(version, [4, 0]) && given > 4 ? 1 : 0;
}

function overflowOf(isQuorum: boolean, given: string | undefined): Overflow {
  if (given === 'reject-publish') return given;
  return given === 'reject-publish-dlx' && !isQuorum ? given : 'drop-head';
}
