import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import { deadLetterExchangeOf } from '../model/dead-letter-exchange';
import { policyName } from '../model/policy';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { type ConsumedSubscription, methodsOf } from './consumed-subscription';
import { DEFAULT_DELIVERY_LIMIT, isAtLeast, type ServerVersion } from './queue-declarations';

/** A remark about a subscription on a server of some version. */
export interface VersionWarning {
  readonly kind: 'delivery-limit' | 'unknown-delivery-limit';
  readonly text: string;
}

/**
 * Delivery limits of a server of this version that dead-letter or delete a message before the subscription's
 * own cap. A limit by policy, or of a queue that is declared elsewhere, is not visible over AMQP; that is
 * logged as well.
 */
export function versionWarnings(
  subscription: SubscriptionMetadata,
  version: ServerVersion,
): readonly VersionWarning[] {
  if (subscription.queueType !== 'quorum' || subscription.noAck) return [];
  const remarks = [
    ownLimit(subscription, version),
    unseenLimit(subscription, version),
    endlessRetry(subscription, version),
  ];
  return remarks.filter((remark) => remark !== undefined);
}

/** Logs what may be different from what was meant, a line each. */
export function logVersionWarnings(
  subscription: ConsumedSubscription,
  version: ServerVersion,
  log: SubscriptionLog,
): void {
  const warnings = methodsOf(subscription).flatMap((method) => versionWarnings(method, version));
  const byText = new Map(warnings.map((warning) => [warning.text, warning]));
  for (const { kind, text } of byText.values()) log.write(kind, text);
}

function ownLimit(
  { retry, declare, queueOptions }: SubscriptionMetadata,
  version: ServerVersion,
): VersionWarning | undefined {
  if (!declare.queue) return undefined;
  const limit: unknown = queueOptions.arguments?.['x-delivery-limit'];
  if (typeof limit !== 'number') return undefined;
  if (limit < 0) {
    if (isAtLeast(version, [4, 0])) return undefined;
    return { kind: 'delivery-limit', text: texts.negativeLimit(version.join('.')) };
  }
  if (retry === undefined || limit >= retry.attempts - 1) return undefined;
  return { kind: 'delivery-limit', text: texts.limitTooLow(limit, retry.attempts) };
}

function unseenLimit(
  { retry, declare, queue = '' }: SubscriptionMetadata,
  version: ServerVersion,
): VersionWarning | undefined {
  const hasDefault = isAtLeast(version, [4, 0]);
  if (retry?.attempts === 1 || declare.queue || (retry === undefined && !hasDefault)) {
    return undefined;
  }
  const isTooLow = hasDefault && retry !== undefined && retry.attempts - 1 > DEFAULT_DELIVERY_LIMIT;
  const text = texts.limitUnseen(queue, retry?.attempts, hasDefault);
  return { kind: isTooLow ? 'delivery-limit' : 'unknown-delivery-limit', text };
}

function endlessRetry(
  subscription: SubscriptionMetadata,
  version: ServerVersion,
): VersionWarning | undefined {
  const { retry, deadLetter, declare, queueOptions, onError, onPanic } = subscription;
  const policies = [...onError.rules.map(({ policy }) => policy), onError.otherwise, onPanic];
  if (retry !== undefined || !policies.some((policy) => policyName(policy) === 'retry')) {
    return undefined;
  }
  const exchange = deadLetterExchangeOf(subscription);
  if (deadLetter?.by === 'broker' || exchange !== undefined) return undefined;
  const given: unknown = queueOptions.arguments?.['x-delivery-limit'];
  const hasDefault = !declare.queue && isAtLeast(version, [4, 0]);
  const limit = given ?? (hasDefault ? DEFAULT_DELIVERY_LIMIT : -1);
  if (typeof limit !== 'number' || limit < 0) return undefined;
  return { kind: 'delivery-limit', text: texts.limitDeletes(limit) };
}
