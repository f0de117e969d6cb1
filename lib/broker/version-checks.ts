import { messages } from '../outcome/messages';
import { policyName } from '../outcome/policy';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import { DEFAULT_DELIVERY_LIMIT, isAtLeast, type ServerVersion } from './queue-declarations';

/** What is to be said of a subscription on a server of some version. */
export interface VersionRemark {
  readonly level: 'warn' | 'info';
  readonly text: string;
}

/**
 * What a subscription means on a server of this version, where it may be something else than was meant:
 * delivery limits, which move or delete a message before the subscription's own cap does. A limit by
 * policy, or on a queue that others declare, can't be seen over AMQP; then that is said.
 */
export function versionRemarks(
  subscription: Subscription,
  version: ServerVersion,
): readonly VersionRemark[] {
  if (subscription.queueType !== 'quorum' || subscription.noAck) return [];
  const remarks = [
    ownLimit(subscription, version),
    unseenLimit(subscription, version),
    endlessRetry(subscription, version),
  ];
  return remarks.filter((remark) => remark !== undefined);
}

/** Says what is to be said of it, a line each. */
export function sayVersionRemarks(
  subscription: Subscription,
  version: ServerVersion,
  log: SubscriptionLog,
): void {
  for (const { level, text } of versionRemarks(subscription, version)) log[level]('version', text);
}

function ownLimit(
  { retry, declare, queueOptions }: Subscription,
  version: ServerVersion,
): VersionRemark | undefined {
  if (!declare.queue) return undefined;
  const limit: unknown = queueOptions.arguments?.['x-delivery-limit'];
  if (typeof limit !== 'number') return undefined;
  if (limit < 0) {
    if (isAtLeast(version, [4, 0])) return undefined;
    return { level: 'warn', text: messages.negativeLimit(version.join('.')) };
  }
  if (retry === undefined || limit >= retry.attempts - 1) return undefined;
  return { level: 'warn', text: messages.limitTooLow(limit, retry.attempts) };
}

function unseenLimit(
  { retry, declare, queue = '' }: Subscription,
  version: ServerVersion,
): VersionRemark | undefined {
  if (retry === undefined || retry.attempts === 1 || declare.queue) return undefined;
  const hasDefault = isAtLeast(version, [4, 0]);
  const isTooLow = hasDefault && retry.attempts - 1 > DEFAULT_DELIVERY_LIMIT;
  const text = messages.limitUnseen(queue, retry.attempts, hasDefault);
  return { level: isTooLow ? 'warn' : 'info', text };
}

function endlessRetry(
  subscription: Subscription,
  version: ServerVersion,
): VersionRemark | undefined {
  const { retry, deadLetter, queueOptions, onError, onPanic } = subscription;
  const policies = [...onError.rules.map(({ policy }) => policy), onError.otherwise, onPanic];
  if (retry !== undefined || !policies.some((policy) => policyName(policy) === 'retry')) {
    return undefined;
  }
  const route: unknown =
    queueOptions.deadLetterExchange ?? queueOptions.arguments?.['x-dead-letter-exchange'];
  if (deadLetter?.by === 'broker' || route !== undefined) return undefined;
  const given: unknown = queueOptions.arguments?.['x-delivery-limit'];
  const limit = given ?? (isAtLeast(version, [4, 0]) ? DEFAULT_DELIVERY_LIMIT : -1);
  if (typeof limit !== 'number' || limit < 0) return undefined;
  return { level: 'warn', text: messages.limitDeletes(limit) };
}
