import { exactDelaysOf, waitingDelayOf } from '../delivery/waiting-delay';
import { waitingQueueName } from '../delivery/waiting-queue';
import { DEFAULT_BACKOFF } from '../model/backoff';
import type { QueueType } from '../model/options';
import { policyName } from '../model/policy';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { waitingDeclarationOf } from './queue-declarations';
import { isForbidden } from './refusal';
import type { TopologyClient } from './topology-client';

/** A queue in which messages for another one wait. */
export interface WaitingQueue {
  readonly name: string;
  /** The queue to which the messages return. */
  readonly queue: string;
  readonly type: QueueType;
  /** In ms. */
  readonly delayMs: number;
}

/** The queue in which a message for `queue` waits at least `ms`. */
export function waitingQueueOf(
  subscription: SubscriptionMetadata,
  queue: string,
  ms: number,
): WaitingQueue {
  const delayMs = waitingDelayOf(subscription, ms);
  const type = keepsWhatIsRefused(subscription) ? 'quorum' : 'classic';
  return { name: waitingQueueName(queue, type, delayMs), queue, type, delayMs };
}

// A classic queue discards a dead letter that its target refuses; a quorum queue with the strategy
// at-least-once keeps it and offers it again, every 3 minutes by default. Where the target dead-letters what
// it refuses, that would multiply the message.
function keepsWhatIsRefused({ queueType, queueOptions }: SubscriptionMetadata): boolean {
  if (queueType === 'quorum') return true;
  const { arguments: args = {}, maxLength, deadLetterExchange } = queueOptions;
  switch (Reflect.get(queueOptions, 'overflow') ?? args['x-overflow']) {
    case 'reject-publish':
      return true;
    case 'reject-publish-dlx':
      return deadLetterExchange === undefined && args['x-dead-letter-exchange'] === undefined;
    case undefined: {
      // A policy can set the overflow.
      const limits: unknown[] = [maxLength, args['x-max-length'], args['x-max-length-bytes']];
      return limits.some((limit) => limit !== undefined);
    }
    default:
      return false;
  }
}

/**
 * The delays whose waiting queues are declared at startup: those of a backoff that is configured, or that
 * a policy uses. The others are declared when they are first needed.
 */
export function delaysAtStartup(subscription: SubscriptionMetadata): ReadonlySet<number> {
  const { queue, noAck, retry, backoff } = subscription;
  if (queue === undefined || noAck || retry?.by === 'broker') return NONE;
  const isUsed = backoff !== DEFAULT_BACKOFF || hasDelayingPolicy(subscription);
  return isUsed ? exactDelaysOf(subscription) : NONE;
}

const NONE: ReadonlySet<number> = new Set();

/** Whether a policy of the subscription retries after a delay. */
export function hasDelayingPolicy(subscription: SubscriptionMetadata): boolean {
  const { onError, onPanic, onInvalidPayload, onUnmatched = 'drop' } = subscription;
  const ofRules = onError.rules.map(({ policy }) => policy);
  const policies = [...ofRules, onError.otherwise, onPanic, onInvalidPayload, onUnmatched];
  return policies.some((policy) => policyName(policy) === 'retryAfter');
}

/**
 * Checks a queue that is not to be declared. RabbitMQ 4.3 lets only a user check it who has a right to it, which
 * publishing to it does not need.
 */
export async function checkIfAllowed(client: TopologyClient, queue: string): Promise<void> {
  try {
    await client.checkQueue(queue);
  } catch (error) {
    if (!isForbidden(error)) throw error;
  }
}

/** Declares a waiting queue, or checks it if it is not to be declared. */
export async function ensureWaitingQueue(
  client: TopologyClient,
  { declare }: SubscriptionMetadata,
  { name, queue, type, delayMs }: WaitingQueue,
): Promise<void> {
  if (!declare.waiting) await checkIfAllowed(client, name);
  else await client.assertQueue(name, waitingDeclarationOf(queue, type, delayMs));
}
