import { texts } from '../log/texts';
import { backoffDeclarationOf } from '../model/backoff';
import { deadLetterExchangeOf } from '../model/dead-letter-exchange';
import type { SubscribeOptions } from '../model/options';
import { type AppliedPolicyName, isFailurePolicy, policyName } from '../model/policy';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { refuseConsumerOptions } from './consumer-checks';
import { RETRY_OPTIONS, WHEN_OPTIONS } from './option-table';

const CONDITIONS: readonly string[] = Object.keys(WHEN_OPTIONS);

/** Adds a fault if a combination is refused. */
export type Refuse = (isRefused: boolean, option: string, expected: string, value: unknown) => void;

/** Faults of options that do not go together, a line each. */
export function combinationFaults(
  subscription: SubscriptionMetadata,
  options: SubscribeOptions,
): string[] {
  const faults: string[] = [];
  const refuse: Refuse = (isRefused, option, expected, value) => {
    if (isRefused) faults.push(texts.option(subscription.handler, option, expected, value));
  };
  refuseQueueTypes(subscription, refuse);
  refuseNoAck(subscription, options, refuse);
  refuseDeadLetters(subscription, refuse);
  refuseRetries(subscription, options, refuse);
  refuseWhen(subscription, refuse);
  refuseConsumerOptions(subscription, options, refuse);
  if (subscription.queue === undefined) refuseServerNamed(subscription, options, refuse);
  return faults;
}

function refuseQueueTypes(
  { queue, queueType, queueOptions }: SubscriptionMetadata,
  refuse: Refuse,
): void {
  const type: unknown = queueOptions.arguments?.['x-queue-type'];
  const isOtherType = type !== undefined && type !== queueType;
  const argument = "queueOptions.arguments['x-queue-type']";
  refuse(isOtherType, argument, 'the same type as queueType', type);
  const isTransient = queueOptions.durable === false || queueOptions.exclusive === true;
  const isTransientQuorum = queueType === 'quorum' && (isTransient || queue === undefined);
  refuse(isTransientQuorum, 'queueType', texts.classicExpected, queueType);
}

function refuseNoAck(
  { noAck }: SubscriptionMetadata,
  { retry, deadLetter, killSwitch }: SubscribeOptions,
  refuse: Refuse,
): void {
  const hasKillSwitch = Boolean(killSwitch);
  refuse(noAck && hasKillSwitch, 'killSwitch', texts.notWithNoAck, killSwitch);
  refuse(noAck && retry !== undefined, 'retry', texts.notWithNoAck, retry);
  refuse(noAck && deadLetter !== undefined, 'deadLetter', texts.notWithNoAck, deadLetter);
}

function refuseDeadLetters(subscription: SubscriptionMetadata, refuse: Refuse): void {
  const { queue, deadLetter } = subscription;
  const isToItself = deadLetter !== undefined && deadLetter.queue === queue;
  refuse(isToItself, 'deadLetter', 'another queue than that of the subscription', queue);
  const exchange = deadLetterExchangeOf(subscription);
  const hasTwo = deadLetter?.by === 'broker' && exchange !== undefined;
  refuse(hasTwo, 'queueOptions', texts.oneDeadLetterExchange, exchange);
}

function refuseRetries(
  { retry, backoff, queueType, onInvalidPayload }: SubscriptionMetadata,
  options: SubscribeOptions,
  refuse: Refuse,
): void {
  const policy = isFailurePolicy(onInvalidPayload) ? policyName(onInvalidPayload) : undefined;
  const isEndless = isEndlessPolicy(policy, retry);
  refuse(isEndless, 'onInvalidPayload', texts.endingExpected, policy);
  if (retry === undefined) return;
  const { attempts, maxDeliveries, by } = retry;
  const { expected } = RETRY_OPTIONS.maxDeliveries;
  refuse(maxDeliveries < attempts, 'retry.maxDeliveries', expected, maxDeliveries);
  if (by !== 'broker') return;
  const { maxAge } = options.retry ?? {};
  refuse(retry.maxAge !== undefined, 'retry.maxAge', texts.clientExpected, maxAge);
  refuse(queueType !== 'quorum', 'retry.by', "'client', or queueType: 'quorum'", by);
  const { linear, jitter } = backoffDeclarationOf(backoff) ?? {};
  const isDelayable = linear !== undefined && jitter === 0;
  refuse(!isDelayable, 'retry.backoff', texts.linearExpected, options.retry?.backoff);
}

// A pause costs no attempt: it would never end.
function isEndlessPolicy(
  policy: AppliedPolicyName | undefined,
  retry: SubscriptionMetadata['retry'],
): boolean {
  if (policy === 'pauseFor') return true;
  return retry === undefined && (policy === 'retry' || policy === 'retryAfter');
}

function refuseWhen({ when, onUnmatched, retry }: SubscriptionMetadata, refuse: Refuse): void {
  const conditions = Object(when);
  const isEmpty = when !== undefined && !CONDITIONS.some((name) => conditions[name] !== undefined);
  refuse(isEmpty, 'when', texts.conditionExpected, when);
  for (const name of Object.keys(conditions)) {
    refuse(!CONDITIONS.includes(name), `when.${name}`, texts.conditionExpected, conditions[name]);
  }
  const policy = isFailurePolicy(onUnmatched) ? policyName(onUnmatched) : undefined;
  const isEndless = isEndlessPolicy(policy, retry);
  refuse(isEndless, 'onUnmatched', texts.endingExpected, policy);
}

function refuseServerNamed(
  { retry, deadLetter }: SubscriptionMetadata,
  options: SubscribeOptions,
  refuse: Refuse,
): void {
  const { backoff } = options.retry ?? {};
  const expected = 'a queue with a name: a waiting message would outlive a server-named queue';
  refuse(backoff !== undefined, 'retry.backoff', expected, backoff);
  refuse(deadLetter?.by === 'broker', 'deadLetter.by', expected, 'broker');
  refuse(retry?.by === 'broker', 'retry.by', expected, 'broker');
}
