import { counted, durationText, queueText } from '../log/format';
import { backoffText } from '../model/backoff';
import { policyText } from '../model/policy';
import type { SubscriptionMetadata } from '../model/subscription-metadata';

/** The effective configuration of a subscription, as its startup line shows it. */
export function startupLine(subscription: SubscriptionMetadata, prefetch: number): string {
  const { queue, queueType, noAck, timeout, onPanic, onInvalidPayload } = subscription;
  const type = noAck ? `${queueType}, noAck` : queueType;
  return [
    `${queueText(queue)} (${type}), prefetch ${prefetch}`,
    retryText(subscription),
    deadLetterText(subscription),
    timeout === undefined ? 'no timeout' : `timeout ${durationText(timeout)}`,
    `onError: ${onErrorText(subscription)}`,
    `onPanic: ${policyText(onPanic)}`,
    `onInvalidPayload: ${policyText(onInvalidPayload)}`,
  ].join('; ');
}

function retryText({ retry, backoff }: SubscriptionMetadata): string {
  if (retry === undefined) return 'no retry';
  const by = retry.by === 'broker' ? ' by the broker' : '';
  return `retry: ${counted(retry.attempts, 'attempt')}, backoff ${backoffText(backoff)}${by}`;
}

function deadLetterText({ deadLetter }: SubscriptionMetadata): string {
  if (deadLetter === undefined) return 'no dead-letter queue';
  const by = deadLetter.by === 'broker' ? ' by the broker' : '';
  return `dead letters to "${deadLetter.queue}"${by}`;
}

function onErrorText({ onError: { rules, otherwise } }: SubscriptionMetadata): string {
  const last = policyText(otherwise);
  return rules.length === 0 ? last : `${counted(rules.length, 'rule')}, then ${last}`;
}
