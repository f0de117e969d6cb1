import {
  deadLetterDeclarationOf,
  isAtLeast,
  queueDeclarationOf,
} from '../broker/queue-declarations';
import { messages } from '../outcome/messages';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import type { MemoryServer } from './memory-server';
import { ServerError } from './server-error';

/** The server in memory, as one connection of the application sees it. */
export interface MemoryClient {
  readonly server: MemoryServer;
  /** The connection: exclusive queues belong to it. */
  readonly owner: unknown;
}

/**
 * Declares what a subscription needs on the server in memory, or checks it where it is not to be declared.
 * Gives the queue's name.
 * @throws ServerError where the server refuses it.
 */
export function declareMemoryTopology(
  client: MemoryClient,
  subscription: Subscription,
  log: SubscriptionLog,
): string {
  const { server, owner } = client;
  const { queue, declare, bindings, queueOptions } = subscription;
  requireVersion(server, subscription);
  ensureMemoryDeadLetterQueue(server, subscription);
  warnOfMissingRoute(server, subscription, log);
  const name =
    !declare.queue && queue !== undefined
      ? server.queueFor(queue, owner).name
      : declareOwnQueue(client, subscription, log);
  if (declare.bindings) {
    for (const { exchange, routingKey } of bindings) {
      server.bind(name, exchange, routingKey ?? '', queueOptions.bindQueueArguments, owner);
    }
  }
  return name;
}

/** Declares the dead-letter queue where it is missing and may be declared. */
export function ensureMemoryDeadLetterQueue(
  server: MemoryServer,
  { deadLetter, declare, queueType }: Subscription,
): void {
  if (deadLetter === undefined || server.hasQueue(deadLetter.queue)) return;
  if (!declare.deadLetter) server.queue(deadLetter.queue);
  server.declareQueue(
    deadLetter.queue,
    deadLetterDeclarationOf(queueType, deadLetter.queueOptions),
  );
}

function requireVersion({ version }: MemoryServer, { retry }: Subscription): void {
  if (retry?.by === 'broker' && !isAtLeast(version, [4, 3])) {
    throw Object.assign(new Error(messages.brokerDelayNeeds(version.join('.'))), { code: 406 });
  }
}

// What an exchange that does not exist is to take from a queue, a broker discards without a word.
function warnOfMissingRoute(
  server: MemoryServer,
  { queueOptions }: Subscription,
  log: SubscriptionLog,
): void {
  const exchange: unknown =
    queueOptions.deadLetterExchange ?? queueOptions.arguments?.['x-dead-letter-exchange'];
  if (typeof exchange !== 'string' || server.hasExchange(exchange)) return;
  log.warn('route', messages.missingRoute(exchange));
}

function declareOwnQueue(
  { server, owner }: MemoryClient,
  subscription: Subscription,
  log: SubscriptionLog,
): string {
  const declaration = queueDeclarationOf(subscription, server.version);
  try {
    return server.declareQueue(subscription.queue ?? '', declaration, owner);
  } catch (error) {
    const { 'x-delivery-limit': limit, ...rest } = declaration.arguments;
    const given = subscription.queueOptions.arguments?.['x-delivery-limit'];
    const ours = given === undefined && subscription.deadLetter?.by !== 'broker';
    const isInequivalent = error instanceof ServerError && error.code === 406;
    if (!ours || limit === undefined || !isInequivalent) throw error;
    const name = server.declareQueue(
      subscription.queue ?? '',
      { ...declaration, arguments: rest },
      owner,
    );
    log.warn('limit', messages.limitBelowAttempts(name, subscription.retry?.attempts));
    return name;
  }
}
