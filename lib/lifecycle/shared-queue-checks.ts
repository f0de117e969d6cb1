import { isDeepStrictEqual } from 'node:util';
import { texts } from '../log/texts';
import { backoffText } from '../model/backoff';
import type { SubscriptionMetadata } from '../model/subscription-metadata';

/** What the methods of one queue have in common, since their one consumer has it. */
const SHARED = [
  'queueType',
  'queueOptions',
  'noAck',
  'declare',
  'singleActiveConsumer',
  'consumerPriority',
  'consumerTimeout',
] as const;

/** The same, but only if both set it. */
const SHARED_IF_SET = ['prefetch', 'onUnmatched', 'killSwitch'] as const;

/** Faults of two methods that share a queue, a line each: no condition, or contradicting options. */
export function sharedQueueFaults(
  first: SubscriptionMetadata,
  other: SubscriptionMetadata,
): string[] {
  const queue = first.queue ?? '';
  if (first.when === undefined && other.when === undefined) {
    return [texts.sharedQueue(first.handler, other.handler, queue)];
  }
  const faults: string[] = [];
  const refuse = (isRefused: boolean, option: string, expected: unknown, value: unknown): void => {
    if (!isRefused) return;
    faults.push(texts.sharedOption(other.handler, option, first.handler, expected, value));
  };
  for (const option of SHARED) {
    const isSame = isDeepStrictEqual(first[option], other[option]);
    refuse(!isSame, option, first[option], other[option]);
  }
  for (const option of SHARED_IF_SET) {
    const [expected, value] = [givenOf(first, option), givenOf(other, option)];
    const areSet = expected !== undefined && value !== undefined;
    refuse(areSet && !isDeepStrictEqual(expected, value), option, expected, value);
  }
  if (isByBroker(first) || isByBroker(other)) {
    // Declared with the queue, so there can be only one of each.
    const [expected, value] = [brokerTerms(first), brokerTerms(other)];
    refuse(!isDeepStrictEqual(expected.retry, value.retry), 'retry', expected.retry, value.retry);
    const isSame = isDeepStrictEqual(expected.deadLetter, value.deadLetter);
    refuse(!isSame, 'deadLetter', expected.deadLetter, value.deadLetter);
  }
  if (isDeepStrictEqual(first.when, other.when)) {
    faults.push(texts.sameCondition(other.handler, first.handler));
  }
  const unused = [first, other].find(({ onUnmatched }) => onUnmatched !== undefined);
  const catchAll = [first, other].find(({ when }) => when === undefined);
  if (unused !== undefined && catchAll !== undefined) {
    faults.push(texts.nothingUnmatched(unused.handler, catchAll.handler));
  }
  return faults;
}

// A kill switch that is switched off is set, too.
function givenOf(
  subscription: SubscriptionMetadata,
  option: (typeof SHARED_IF_SET)[number],
): unknown {
  const isOff = option === 'killSwitch' && subscription.options.killSwitch === false;
  return isOff ? false : subscription[option];
}

function isByBroker({ retry, deadLetter }: SubscriptionMetadata): boolean {
  return retry?.by === 'broker' || deadLetter?.by === 'broker';
}

function brokerTerms({ retry, backoff, deadLetter }: SubscriptionMetadata) {
  return {
    retry: retry && { ...retry, backoff: backoffText(backoff) },
    deadLetter: deadLetter && { queue: deadLetter.queue, by: deadLetter.by },
  };
}
