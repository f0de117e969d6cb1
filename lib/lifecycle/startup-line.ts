import { whenText } from '../delivery/when';
import { counted, durationText, queueText } from '../log/format';
import { backoffText } from '../model/backoff';
import { deadLetterExchangeOf } from '../model/dead-letter-exchange';
import { policyText } from '../model/policy';
import type { SubscriptionMetadata } from '../model/subscription-metadata';

/** The effective configuration of a subscription, as its startup line shows it. */
export function startupLine(subscription: SubscriptionMetadata, prefetch: number): string {
  const { queue, queueType, noAck, when, timeout, onPanic, onInvalidPayload, onUnmatched } =
    subscription;
  const type = noAck ? `${queueType}, noAck` : queueType;
  return [
    `${queueText(queue)} (${type}), prefetch ${prefetch}`,
    ...(when === undefined ? [] : [`when ${whenText(when)}`]),
    ...limits(subscription),
    ...undeclared(subscription),
    retryText(subscription),
    deadLetterText(subscription),
    ...killSwitchText(subscription),
    timeout === undefined ? 'no timeout' : `timeout ${durationText(timeout)}`,
    `onError: ${onErrorText(subscription)}`,
    `onPanic: ${policyText(onPanic)}`,
    `onInvalidPayload: ${policyText(onInvalidPayload)}`,
    ...(onUnmatched === undefined ? [] : [`onUnmatched: ${policyText(onUnmatched)}`]),
  ].join('; ');
}

function limits({
  batch,
  order,
  concurrency,
  rate,
  singleActiveConsumer,
}: SubscriptionMetadata): string[] {
  return [
    ...(batch === undefined ? [] : [batchText(batch)]),
    ...(concurrency === undefined ? [] : [`concurrency ${concurrency}`]),
    ...(rate === undefined ? [] : [`rate ${rate.limit} per ${durationText(rate.per)}`]),
    ...(order === undefined
      ? []
      : [`ordered by key, held ${durationText(order.hold)}, then ${order.whenStuck}`]),
    ...(singleActiveConsumer ? ['single active consumer'] : []),
  ];
}

function batchText({
  size,
  wait,
  concurrency,
}: NonNullable<SubscriptionMetadata['batch']>): string {
  const atOnce = concurrency === 1 ? '' : `, ${concurrency} at once`;
  return `batches of ${size} after ${durationText(wait)}${atOnce}`;
}

function undeclared({ declare, bindings, deadLetter }: SubscriptionMetadata): string[] {
  const parts = [
    ...(declare.queue ? [] : ['queue']),
    ...(declare.bindings || bindings.length === 0 ? [] : ['bindings']),
    ...(declare.waiting ? [] : ['waiting queues']),
    ...(declare.deadLetter || deadLetter === undefined ? [] : ['dead-letter queue']),
  ];
  return parts.length === 0 ? [] : [`not declared: ${parts.join(', ')}`];
}

function retryText({ retry, backoff }: SubscriptionMetadata): string {
  if (retry === undefined) return 'no retry';
  const by = retry.by === 'broker' ? ' by the broker' : '';
  const age = retry.maxAge === undefined ? '' : `, max age ${durationText(retry.maxAge)}`;
  return `retry: ${counted(retry.attempts, 'attempt')}${age}, backoff ${backoffText(backoff)}${by}`;
}

function deadLetterText(subscription: SubscriptionMetadata): string {
  const { deadLetter } = subscription;
  const exchange = deadLetterExchangeOf(subscription);
  const toExchange = exchange === undefined ? '' : ` to exchange "${exchange}"`;
  if (deadLetter === undefined) {
    return `no dead-letter queue${toExchange && `, rejected messages${toExchange}`}`;
  }
  const by = deadLetter.by === 'broker' ? ' by the broker' : '';
  return `dead letters to "${deadLetter.queue}"${by}${toExchange && `, those of RabbitMQ${toExchange}`}`;
}

function killSwitchText({ killSwitch }: SubscriptionMetadata): string[] {
  if (killSwitch === undefined) return [];
  const { failures, minimum, window, pause } = killSwitch;
  const share = `${Number((100 * failures).toFixed(2))} % of at least ${minimum}`;
  return [`kill switch: ${share} in ${durationText(window)}, pause ${durationText(pause)}`];
}

function onErrorText({ onError: { rules, otherwise } }: SubscriptionMetadata): string {
  const last = policyText(otherwise);
  return rules.length === 0 ? last : `${counted(rules.length, 'rule')}, then ${last}`;
}
