import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import { deadLetterExchangeOf } from '../model/dead-letter-exchange';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { type ConsumedSubscription, methodsOf } from './consumed-subscription';
import {
  DEFAULT_DELIVERY_LIMIT,
  deadLetterDeclarationOf,
  isAtLeast,
  queueDeclarationOf,
} from './queue-declarations';
import { isForbidden, isInequivalent, isNotFound, isUnavailable } from './refusal';
import type { TopologyClient } from './topology-client';
import {
  checkIfAllowed,
  delaysAtStartup,
  ensureWaitingQueue,
  waitingQueueOf,
} from './waiting-queues';

/**
 * Declares what a consumer needs, or checks it if it is not to be declared: the dead-letter queues of its
 * methods, its queue, its bindings, the waiting queues of its backoffs. Resolves with the queue's name;
 * rejects with the broker's error.
 */
export async function declareTopology(
  client: TopologyClient,
  subscription: ConsumedSubscription,
  log: SubscriptionLog,
): Promise<string> {
  requireVersion(client, subscription);
  const methods = methodsOf(subscription);
  for (const method of methods) await ensureDeadLetterQueue(client, method);
  await warnOfMissingExchange(client, subscription, log);
  const queue = await declareQueue(client, subscription, log);
  const { bindings, queueOptions, declare } = subscription;
  for (const { exchange, routingKey } of declare.bindings ? bindings : []) {
    await client.bindQueue(queue, exchange, routingKey ?? '', queueOptions.bindQueueArguments);
  }
  for (const method of methods) await declareWaitingQueues(client, method, queue, log);
  return queue;
}

/** Declares the subscription's own queue, or checks that it exists. Resolves with its name. */
export async function declareQueue(
  client: TopologyClient,
  subscription: SubscriptionMetadata,
  log: SubscriptionLog,
): Promise<string> {
  const { queue, declare } = subscription;
  if (!declare.queue && queue !== undefined) {
    await checkIfAllowed(client, queue);
    return queue;
  }
  const declaration = queueDeclarationOf(subscription, client.version);
  try {
    return await client.assertQueue(queue ?? '', declaration);
  } catch (error) {
    // A queue that exists without the limit that this library adds by itself is used as it is.
    const given = subscription.queueOptions.arguments?.['x-delivery-limit'];
    const isAdded = given === undefined && subscription.deadLetter?.by !== 'broker';
    const { 'x-delivery-limit': limit, ...rest } = declaration.arguments;
    if (!isAdded || limit === undefined || !isInequivalent(error)) throw error;
    const name = await client.assertQueue(queue ?? '', { ...declaration, arguments: rest });
    const { attempts } = subscription.retry ?? {};
    if (attempts === undefined || attempts > DEFAULT_DELIVERY_LIMIT) {
      log.write('delivery-limit', texts.limitBelowAttempts(name, attempts));
    }
    return name;
  }
}

/** Declares the dead-letter queue if it is missing and may be declared; one that exists is used as it is. */
export async function ensureDeadLetterQueue(
  client: TopologyClient,
  { deadLetter, declare, queueType }: SubscriptionMetadata,
): Promise<void> {
  if (deadLetter === undefined) return;
  const { queue, queueOptions } = deadLetter;
  if (!declare.deadLetter) return checkIfAllowed(client, queue);
  try {
    await client.checkQueue(queue);
  } catch (error) {
    if (!isNotFound(error) && !isForbidden(error)) throw error;
    try {
      const declaration = deadLetterDeclarationOf(queueType, queueOptions, client.version);
      await client.assertQueue(queue, declaration);
    } catch (refusal) {
      // Another subscription declared it first, with a queue type of its own.
      if (!isInequivalent(refusal)) throw refusal;
      await client.checkQueue(queue);
    }
  }
}

// One whose node is down holds up only the messages that are to wait in it.
async function declareWaitingQueues(
  client: TopologyClient,
  subscription: SubscriptionMetadata,
  queue: string,
  log: SubscriptionLog,
): Promise<void> {
  for (const delayMs of delaysAtStartup(subscription)) {
    const waiting = waitingQueueOf(subscription, queue, delayMs);
    try {
      await ensureWaitingQueue(client, subscription, waiting);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      const text = texts.waitingQueueUnavailable(waiting.name, delayMs, error);
      log.write('waiting-queue-unavailable', text);
    }
  }
}

function requireVersion({ version }: TopologyClient, { retry }: SubscriptionMetadata): void {
  if (retry?.by === 'broker' && !isAtLeast(version, [4, 3])) {
    throw Object.assign(new Error(texts.brokerDelayNeeds(version.join('.'))), { code: 406 });
  }
}

// The broker discards what an exchange that does not exist should have taken, without an error.
async function warnOfMissingExchange(
  client: TopologyClient,
  subscription: SubscriptionMetadata,
  log: SubscriptionLog,
): Promise<void> {
  const exchange = deadLetterExchangeOf(subscription);
  if (typeof exchange !== 'string' || exchange === '') return;
  try {
    await client.checkExchange(exchange);
  } catch (error) {
    if (isForbidden(error)) return;
    if (!isNotFound(error)) throw error;
    log.write('missing-exchange', texts.missingRoute(exchange));
  }
}
