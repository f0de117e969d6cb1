import { texts } from '../log/texts';
import { backoffDeclarationOf } from '../model/backoff';
import type { QueueType } from '../model/options';
import type { SubscriptionMetadata } from '../model/subscription-metadata';

/** How a queue is declared. */
export interface QueueDeclaration {
  readonly durable?: boolean;
  readonly exclusive?: boolean;
  readonly autoDelete?: boolean;
  readonly messageTtl?: number;
  readonly expires?: number;
  readonly deadLetterExchange?: string;
  readonly deadLetterRoutingKey?: string;
  readonly maxLength?: number;
  readonly maxPriority?: number;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The version of a server: major and minor. */
export type ServerVersion = readonly [major: number, minor: number];

/**
 * The version in a text: `4.3`, `4.3.6`.
 * @throws RangeError if it is not a version.
 */
export function versionOf(text: string): ServerVersion {
  const [, major, minor] = /^(\d{1,3})\.(\d{1,3})(?:\.|$)/.exec(text) ?? [];
  if (minor === undefined) throw new RangeError(texts.versionInvalid(text));
  return [Number(major), Number(minor)];
}

/** Whether a version is at least another. */
export function isAtLeast([major, minor]: ServerVersion, least: ServerVersion): boolean {
  return major > least[0] || (major === least[0] && minor >= least[1]);
}

/** The delivery limit that quorum queues have by default from 4.0 on. */
export const DEFAULT_DELIVERY_LIMIT = 20;

/**
 * No delivery limit, from 4.0 on; before, RabbitMQ deletes a message when it is first requeued. The same for queues
 * and dead-letter queues, since a subscription can consume the dead-letter queue of another.
 */
const NO_LIMIT = -1;

/**
 * How a subscription's own queue is declared. `retry.attempts` is not an argument of it, so that it can
 * change between releases, except with `deadLetter.by: 'broker'`.
 * @param version of the server: major and minor.
 */
export function queueDeclarationOf(
  subscription: SubscriptionMetadata,
  version: ServerVersion,
): QueueDeclaration {
  const { queueType, queue } = subscription;
  const {
    channel: _channel,
    consumerOptions: _consumerOptions,
    bindQueueArguments: _bindQueueArguments,
    arguments: given,
    ...options
  } = subscription.queueOptions;
  const named = queue === undefined ? { exclusive: true, autoDelete: true, durable: false } : {};
  return {
    durable: true,
    ...options,
    ...named,
    arguments: {
      ...given,
      'x-queue-type': queueType,
      ...consumerArguments(subscription, version),
      ...deadLetterArguments(subscription),
      ...limitArguments(subscription, version),
      ...delayArguments(subscription),
    },
  };
}

// From 4.3 on only quorum queues have a consumer timeout, and classic ones refuse it.
function consumerArguments(
  { queueType, singleActiveConsumer, consumerTimeout }: SubscriptionMetadata,
  version: ServerVersion,
): Record<string, unknown> {
  const hasTimeout =
    consumerTimeout !== undefined && (queueType === 'quorum' || !isAtLeast(version, [4, 3]));
  return {
    ...(singleActiveConsumer && { 'x-single-active-consumer': true }),
    ...(hasTimeout && { 'x-consumer-timeout': consumerTimeout }),
  };
}

function deadLetterArguments({ deadLetter }: SubscriptionMetadata): Record<string, unknown> {
  if (deadLetter?.by !== 'broker') return {};
  return { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': deadLetter.queue };
}

function limitArguments(
  { queueType, retry, deadLetter, queueOptions }: SubscriptionMetadata,
  version: ServerVersion,
): Record<string, unknown> {
  if (queueType !== 'quorum' || queueOptions.arguments?.['x-delivery-limit'] !== undefined)
    return {};
  if (deadLetter?.by === 'broker') {
    return retry === undefined ? {} : { 'x-delivery-limit': retry.attempts - 1 };
  }
  // From 4.0 on a queue without a limit of its own deletes a message after 20 deliveries: each restart by
  // failFast is one, also of messages that were only prefetched.
  return isAtLeast(version, [4, 0]) ? { 'x-delivery-limit': NO_LIMIT } : {};
}

function delayArguments({ retry, backoff }: SubscriptionMetadata): Record<string, unknown> {
  const { linear } = backoffDeclarationOf(backoff) ?? {};
  if (retry?.by !== 'broker' || linear === undefined) return {};
  const { ms, max } = linear;
  return {
    'x-delayed-retry-type': 'failed',
    'x-delayed-retry-min': ms,
    'x-delayed-retry-max': max,
  };
}

/**
 * How a dead-letter queue is declared if it is missing. A quorum queue has no delivery limit, so that looking at
 * its messages never deletes one.
 */
export function deadLetterDeclarationOf(
  queueType: QueueType,
  options: NonNullable<SubscriptionMetadata['deadLetter']>['queueOptions'],
  version: ServerVersion,
): QueueDeclaration {
  const args = { 'x-queue-type': queueType, ...options.arguments };
  const isUnlimited = args['x-queue-type'] === 'quorum' && isAtLeast(version, [4, 0]);
  const limit = isUnlimited ? { 'x-delivery-limit': NO_LIMIT } : {};
  return { durable: true, ...options, arguments: { ...limit, ...args } };
}

/**
 * How the queue is declared in which copies for `queue` wait. One TTL for the whole queue: no message
 * waits behind a longer one. There is no expiry: neither declaring nor publishing renews one on a
 * quorum queue, and the queue would go with what it holds.
 */
export function waitingDeclarationOf(
  queue: string,
  queueType: QueueType,
  delayMs: number,
): QueueDeclaration {
  const lossless = { 'x-overflow': 'reject-publish', 'x-dead-letter-strategy': 'at-least-once' };
  return {
    durable: true,
    arguments: {
      'x-queue-type': queueType,
      'x-message-ttl': delayMs,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': queue,
      ...(queueType === 'quorum' && lossless),
    },
  };
}
