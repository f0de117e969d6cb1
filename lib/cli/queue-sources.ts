import type { QueueClient } from '../amqp/queue-client';
import { isNotFound } from '../amqp/refusal';
import { ROUND_DELAYS, waitingQueueName } from '../delivery/waiting-queue';
import { texts } from '../log/texts';
import { DEAD_LETTER_SUFFIXES, type QueueInfo } from './queue-groups';

/** A queue as the management API describes it. */
interface ManagedQueue {
  readonly name: string;
  readonly messages_ready?: number;
  readonly messages_unacknowledged?: number;
  readonly consumers?: number;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

const FIELDS = 'name,messages_ready,messages_unacknowledged,consumers,arguments';

/** All queues of a virtual host, by the management API. Rejects if it does not answer, or refuses. */
export async function managedQueues(
  url: string,
  virtualHost: string,
  load: typeof fetch = fetch,
): Promise<readonly QueueInfo[]> {
  const { username, password, origin, pathname } = new URL(url);
  const base = `${origin}${pathname.replace(/\/+$/, '').replace(/\/api$/, '')}`;
  const address = `${base}/api/queues/${encodeURIComponent(virtualHost)}?columns=${FIELDS}&disable_stats=false`;
  const user = `${decodeURIComponent(username) || 'guest'}:${decodeURIComponent(password) || 'guest'}`;
  const authorization = `Basic ${Buffer.from(user).toString('base64')}`;
  const response = await load(address, { headers: { authorization } });
  if (!response.ok) throw new Error(texts.cliManagementRefused(base, response.status));
  const queues = (await response.json()) as readonly ManagedQueue[];
  return queues.map((queue) => ({
    name: queue.name,
    ready: queue.messages_ready ?? 0,
    unacknowledged: queue.messages_unacknowledged ?? 0,
    consumers: queue.consumers ?? 0,
    arguments: queue.arguments ?? {},
  }));
}

/**
 * Queues by their names, over AMQP, which does not tell how many messages are unacknowledged, with those of
 * their dead-letter queues that have usual names, and the waiting queues of round delays. Rejects if one of
 * the named queues does not exist.
 */
export async function checkedQueues(
  client: QueueClient,
  names: readonly string[],
): Promise<readonly QueueInfo[]> {
  const found = new Map<string, QueueInfo>();
  for (const name of names) {
    found.set(name, { name, ...(await client.counts(name)) });
    const waiting = ROUND_DELAYS.flatMap((ms) => [
      waitingQueueName(name, 'classic', ms),
      waitingQueueName(name, 'quorum', ms),
    ]);
    for (const other of [...DEAD_LETTER_SUFFIXES.map((suffix) => `${name}${suffix}`), ...waiting]) {
      const queue = found.has(other) ? undefined : await existing(client, other);
      if (queue !== undefined) found.set(other, queue);
    }
  }
  return [...found.values()];
}

async function existing(client: QueueClient, name: string): Promise<QueueInfo | undefined> {
  try {
    return { name, ...(await client.counts(name)) };
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
