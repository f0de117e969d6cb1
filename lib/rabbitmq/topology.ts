import {
  deadLetterDeclarationOf,
  isAtLeast,
  queueDeclarationOf,
} from '../broker/queue-declarations';
import { pause, systemClock } from '../clock';
import { messages } from '../outcome/messages';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import { serverVersionOf } from './managed-connection';
import { isInequivalent, isNotFound } from './refusal';
import type { RawChannel, RawConnection } from './types';

/**
 * How long the number of a channel that the server has closed is left alone, in ms: amqplib hands it out
 * at once, and under load its `channel.open` overtakes the `channel.close-ok` before it, which ends the
 * connection.
 */
const REOPENING_PAUSE = 10;

/**
 * Does something on a channel of its own: what the broker refuses there ends that channel only.
 * Rejects with what the broker answers.
 */
export async function onScratchChannel<T>(
  connection: RawConnection,
  work: (channel: RawChannel) => Promise<T>,
): Promise<T> {
  const channel = await connection.createChannel();
  let failure: Error | undefined;
  channel.on('error', (error: Error) => {
    failure = error; // The rejection of the call that caused it says the same.
  });
  const ended = new Promise<void>((resolve) => channel.once('close', () => resolve()));
  try {
    return await work(channel);
  } finally {
    // A connection that breaks meanwhile ends the channel without an answer to the close.
    if (failure === undefined) await Promise.race([channel.close().catch(() => undefined), ended]);
    else await pause(systemClock, REOPENING_PAUSE);
  }
}

/**
 * Declares what a subscription needs, or checks it where it is not to be declared: its dead-letter queue,
 * its queue, its bindings. Resolves with the queue's name; rejects with what the broker answers.
 */
export async function declareTopology(
  connection: RawConnection,
  subscription: Subscription,
  log: SubscriptionLog,
): Promise<string> {
  requireVersion(connection, subscription);
  await ensureDeadLetterQueue(connection, subscription);
  await warnOfMissingRoute(connection, subscription, log);
  const queue = await declareQueue(connection, subscription, log);
  const { bindings, queueOptions, declare } = subscription;
  if (bindings.length > 0 && declare.bindings) {
    await onScratchChannel(connection, async (channel) => {
      for (const { exchange, routingKey } of bindings) {
        await channel.bindQueue(queue, exchange, routingKey ?? '', queueOptions.bindQueueArguments);
      }
    });
  }
  return queue;
}

/** Declares the subscription's own queue, or checks that it exists. Resolves with its name. */
export async function declareQueue(
  connection: RawConnection,
  subscription: Subscription,
  log: SubscriptionLog,
): Promise<string> {
  const { queue, declare } = subscription;
  if (!declare.queue && queue !== undefined) {
    await onScratchChannel(connection, (channel) => channel.checkQueue(queue));
    return queue;
  }
  const declaration = queueDeclarationOf(subscription, serverVersionOf(connection));
  const assert = (options: typeof declaration): Promise<string> =>
    onScratchChannel(connection, async (channel) => {
      const made = await channel.assertQueue(queue ?? '', options);
      return made.queue;
    });
  try {
    return await assert(declaration);
  } catch (error) {
    // A limit that we raised by ourselves is no reason to refuse a queue that exists without it.
    const given = subscription.queueOptions.arguments?.['x-delivery-limit'];
    const ours = given === undefined && subscription.deadLetter?.by !== 'broker';
    const { 'x-delivery-limit': limit, ...rest } = declaration.arguments;
    if (!ours || limit === undefined || !isInequivalent(error)) throw error;
    const name = await assert({ ...declaration, arguments: rest });
    log.warn('limit', messages.limitBelowAttempts(name, subscription.retry?.attempts));
    return name;
  }
}

/** Declares the dead-letter queue where it is missing and may be declared; used as it is otherwise. */
export async function ensureDeadLetterQueue(
  connection: RawConnection,
  { deadLetter, declare, queueType }: Subscription,
): Promise<void> {
  if (deadLetter === undefined) return;
  try {
    await onScratchChannel(connection, (channel) => channel.checkQueue(deadLetter.queue));
  } catch (error) {
    if (!isNotFound(error) || !declare.deadLetter) throw error;
    const declaration = deadLetterDeclarationOf(queueType, deadLetter.queueOptions);
    await onScratchChannel(connection, (channel) =>
      channel.assertQueue(deadLetter.queue, declaration),
    ).catch((refusal: unknown) => {
      // Another subscription that shares it was faster, with a queue type of its own.
      if (!isInequivalent(refusal)) throw refusal;
      return onScratchChannel(connection, (channel) => channel.checkQueue(deadLetter.queue));
    });
  }
}

function requireVersion(connection: RawConnection, { retry }: Subscription): void {
  const version = serverVersionOf(connection);
  if (retry?.by === 'broker' && !isAtLeast(version, [4, 3])) {
    throw Object.assign(new Error(messages.brokerDelayNeeds(version.join('.'))), { code: 406 });
  }
}

// What an exchange that does not exist is to take from a queue, the broker discards without a word.
async function warnOfMissingRoute(
  connection: RawConnection,
  { queueOptions }: Subscription,
  log: SubscriptionLog,
): Promise<void> {
  const exchange: unknown =
    queueOptions.deadLetterExchange ?? queueOptions.arguments?.['x-dead-letter-exchange'];
  if (typeof exchange !== 'string' || exchange === '') return;
  try {
    await onScratchChannel(connection, (channel) => channel.checkExchange(exchange));
  } catch (error) {
    if (!isNotFound(error)) throw error;
    log.warn('route', messages.missingRoute(exchange));
  }
}
