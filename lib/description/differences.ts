import type { QueueDeclaration } from '../amqp/queue-declarations';
import { isInequivalent, isNotFound } from '../amqp/refusal';
import type { TopologyClient } from '../amqp/topology-client';
import { texts } from '../log/texts';
import type { ConsumerDescription, QueueDescription } from './description';

/** One difference between what a consumer needs and what the server has. */
export interface Difference {
  readonly kind: 'missing' | 'different' | 'unreadable';
  readonly what: 'queue' | 'exchange';
  readonly name: string;
  /** For `missing`: whether the application declares it by itself. */
  readonly isDeclared: boolean;
  readonly text: string;
}

/**
 * Compares what a consumer needs with the server. What exists is found by passive declares first, then
 * declared as it is expected to be, which changes nothing: the server compares and refuses a difference.
 * What is missing is not declared. Rejects if the connection fails.
 */
export async function differencesOf(
  client: TopologyClient,
  { queues, exchanges }: Pick<ConsumerDescription, 'queues' | 'exchanges'>,
): Promise<readonly Difference[]> {
  const found: (Difference | undefined)[] = [];
  for (const { name, type } of exchanges) {
    found.push(
      await difference('exchange', name, type !== undefined, () => client.checkExchange(name)),
    );
  }
  for (const queue of queues) {
    // A server-named or exclusive queue is new on each connection.
    if (queue.name === undefined || queue.exclusive) continue;
    found.push(await queueDifference(client, queue, queue.name));
  }
  return found.filter((one) => one !== undefined);
}

async function queueDifference(
  client: TopologyClient,
  queue: QueueDescription,
  name: string,
): Promise<Difference | undefined> {
  const isDeclared = queue.declared !== 'never';
  const check = (): Promise<unknown> => client.checkQueue(name);
  const missing = await difference('queue', name, isDeclared, check);
  // An existing dead-letter queue, and one that is not declared, is used as it is.
  if (missing !== undefined || !isDeclared || queue.purpose === 'dead-letter') return missing;
  return difference('queue', name, isDeclared, () => declareExisting(client, queue, name));
}

async function declareExisting(
  client: TopologyClient,
  { durable, autoDelete, exclusive, arguments: args }: QueueDescription,
  name: string,
): Promise<void> {
  const declaration: QueueDeclaration = { durable, autoDelete, exclusive, arguments: args };
  try {
    await client.assertQueue(name, declaration);
  } catch (error) {
    // A queue without the limit that this library adds by itself is used as it is.
    const { 'x-delivery-limit': limit, ...rest } = args;
    if (limit !== -1 || !isInequivalent(error)) throw error;
    await client.assertQueue(name, { ...declaration, arguments: rest });
  }
}

async function difference(
  what: Difference['what'],
  name: string,
  isDeclared: boolean,
  compare: () => Promise<unknown>,
): Promise<Difference | undefined> {
  try {
    await compare();
    return undefined;
  } catch (error) {
    if (isNotFound(error)) {
      const text = texts.missingOnServer(what, name, isDeclared);
      return { kind: 'missing', what, name, isDeclared, text };
    }
    const kind = isInequivalent(error) ? 'different' : 'unreadable';
    return { kind, what, name, isDeclared, text: texts.differentOnServer(what, name, error) };
  }
}
