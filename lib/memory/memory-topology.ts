import { deadLetterDeclarationOf, queueDeclarationOf } from '../broker/queue-declarations';
import { messages } from '../outcome/messages';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import type { MemoryServer } from './memory-server';
import { ServerError } from './server-error';

/**
 * Declares what a subscription needs on the server in memory, or checks it where it is not to be declared.
 * Gives the queue's name.
 * @throws ServerError where the server refuses it.
 */
export function declareMemoryTopology(
  server: MemoryServer,
  subscription: Subscription,
  log: SubscriptionLog,
): string {
  const { queue, declare, bindings, queueOptions } = subscription;
  ensureMemoryDeadLetterQueue(server, subscription);
  const name =
    !declare.queue && queue !== undefined
      ? server.queue(queue).name
      : declareOwnQueue(server, subscription, log);
  if (declare.bindings) {
    for (const { exchange, routingKey } of bindings) {
      server.bind(name, exchange, routingKey ?? '', queueOptions.bindQueueArguments);
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

function declareOwnQueue(
  server: MemoryServer,
  subscription: Subscription,
  log: SubscriptionLog,
): string {
  const declaration = queueDeclarationOf(subscription, server.version);
  try {
    return server.declareQueue(subscription.queue ?? '', declaration);
  } catch (error) {
    const { 'x-delivery-limit': limit, ...rest } = declaration.arguments;
    const given = subscription.queueOptions.arguments?.['x-delivery-limit'];
    const ours = given === undefined && subscription.deadLetter?.by !== 'broker';
    const isInequivalent = error instanceof ServerError && error.code === 406;
    if (!ours || limit === undefined || !isInequivalent) throw error;
    const name = server.declareQueue(subscription.queue ?? '', { ...declaration, arguments: rest });
    log.warn('limit', messages.limitBelowAttempts(name, subscription.retry?.attempts));
    return name;
  }
}
