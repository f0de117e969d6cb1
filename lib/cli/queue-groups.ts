import { isWaitingQueue } from '../delivery/waiting-queue';

/** What is known of a queue; `undefined` is unknown. */
export interface QueueInfo {
  readonly name: string;
  readonly ready: number;
  readonly unacknowledged?: number | undefined;
  readonly consumers: number;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/** A queue with the queues in which its messages wait for a retry or end. */
export interface QueueGroup extends Omit<QueueInfo, 'arguments'> {
  /** Messages that wait for a retry. */
  readonly waiting: number;
  /** Messages in the dead-letter queue; `undefined` without one. */
  readonly dead?: number | undefined;
  readonly deadLetterQueue?: string | undefined;
}

/** What dead-letter queues are usually called, after the name of the queue. */
export const DEAD_LETTER_SUFFIXES = ['.dead', '.dlq', '.dead-letter', '.dead-letters', '.error'];

const WAITING = /^(.+)\.waitq?\.\d+$/;

/**
 * Puts waiting and dead-letter queues to the queues that they belong to. A dead-letter queue is found by the
 * arguments of its queue, or by its name.
 */
export function groupQueues(queues: readonly QueueInfo[]): readonly QueueGroup[] {
  const byName = new Map(queues.map((queue) => [queue.name, queue]));
  const waiting = new Map<string, number>();
  const belonging = new Set<string>();
  for (const { name, ready, unacknowledged = 0 } of queues) {
    const owner = ownerOf(name, byName);
    if (owner === undefined) continue;
    belonging.add(name);
    waiting.set(owner, (waiting.get(owner) ?? 0) + ready + unacknowledged);
  }
  const deadLetterQueues = new Map<string, QueueInfo>();
  for (const queue of queues) {
    const dead = belonging.has(queue.name) ? undefined : deadLetterQueueOf(queue, byName);
    if (dead !== undefined) deadLetterQueues.set(queue.name, dead);
  }
  for (const { name } of deadLetterQueues.values()) belonging.add(name);
  return queues
    .filter(({ name }) => !belonging.has(name))
    .map(({ name, ready, unacknowledged, consumers }) => {
      const dead = deadLetterQueues.get(name);
      return {
        ...{ name, ready, unacknowledged, consumers, waiting: waiting.get(name) ?? 0 },
        dead: dead && dead.ready + (dead.unacknowledged ?? 0),
        deadLetterQueue: dead?.name,
      };
    });
}

// A long name ends in a hash, which tells its queue only by comparing.
function ownerOf(name: string, queues: ReadonlyMap<string, QueueInfo>): string | undefined {
  const [, prefix] = WAITING.exec(name) ?? [];
  if (prefix === undefined) return undefined;
  if (queues.has(prefix) && isWaitingQueue(name, prefix)) return prefix;
  if (!prefix.includes('~')) return undefined;
  return [...queues.keys()].find((queue) => isWaitingQueue(name, queue));
}

function deadLetterQueueOf(
  { name, arguments: args = {} }: QueueInfo,
  queues: ReadonlyMap<string, QueueInfo>,
): QueueInfo | undefined {
  const routed =
    args['x-dead-letter-exchange'] === '' ? String(args['x-dead-letter-routing-key']) : undefined;
  const names = [routed, ...DEAD_LETTER_SUFFIXES.map((suffix) => `${name}${suffix}`)];
  const found = names.find((one) => one !== undefined && one !== name && queues.has(one));
  return found === undefined ? undefined : queues.get(found);
}
