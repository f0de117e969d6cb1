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

/** Whether a version is at least another. */
export function isAtLeast([major, minor]: ServerVersion, least: ServerVersion): boolean {
  return major > least[0] || (major === least[0] && minor >= least[1]);
}

/** The delivery limit that quorum queues have by default from 4.0 on. */
export const DEFAULT_DELIVERY_LIMIT = 20;

/** One above the most attempts that may be declared: the same for all, so that attempts may change. */
const NEVER_REACHED_LIMIT = 10_001;

/**
 * How a subscription's own queue is declared. `retry.attempts` is no argument of it, so that it may
 * change between releases, but where the broker counts and moves (`deadLetter.by: 'broker'`).
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
      ...deadLetterArguments(subscription),
      ...limitArguments(subscription, version),
      ...delayArguments(subscription),
    },
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
  if (queueType !== 'quorum' || retry === undefined) return {};
  if (queueOptions.arguments?.['x-delivery-limit'] !== undefined) return {};
  if (deadLetter?.by === 'broker') return { 'x-delivery-limit': retry.attempts - 1 };
  const isBelow = retry.attempts <= DEFAULT_DELIVERY_LIMIT || !isAtLeast(version, [4, 0]);
  return isBelow ? {} : { 'x-delivery-limit': NEVER_REACHED_LIMIT };
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

/** How a dead-letter queue is declared where it is missing. */
export function deadLetterDeclarationOf(
  queueType: QueueType,
  options: NonNullable<SubscriptionMetadata['deadLetter']>['queueOptions'],
): QueueDeclaration {
  return {
    durable: true,
    ...options,
    arguments: { 'x-queue-type': queueType, ...options.arguments },
  };
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
