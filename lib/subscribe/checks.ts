import { texts } from '../log/texts';
import { backoffDeclarationOf } from '../model/backoff';
import type { SubscribeOptions } from '../model/options';
import {
  type FailurePolicy,
  isErrorRule,
  isFailurePolicy,
  POLICY_EXPECTED,
  policyName,
} from '../model/policy';
import type { SubscriptionMetadata } from '../model/subscription-metadata';

const KNOWN_OPTIONS: ReadonlySet<string> = new Set<keyof SubscribeOptions>([
  'name',
  'connection',
  'exchange',
  'routingKey',
  'bindings',
  'queue',
  'queueOptions',
  'createQueueIfNotExists',
  'deserializer',
  'allowNonJsonMessages',
  'queueType',
  'prefetch',
  'retry',
  'deadLetter',
  'timeout',
  'onError',
  'onPanic',
  'onInvalidPayload',
  'noAck',
  'declare',
]);

const MOST_ATTEMPTS = 10_000;

/**
 * Faults in the options as they were written: unknown and refused ones, a queue left open, and lines of
 * `onError` that are neither rules nor a policy at the end.
 * @param onError that of the options, else of the defaults.
 */
export function optionFaults(
  handler: string,
  options: SubscribeOptions,
  onError: unknown,
): string[] {
  const found: string[] = [];
  for (const option of Object.keys(options)) {
    if (!KNOWN_OPTIONS.has(option)) found.push(texts.unknownOption(handler, option));
  }
  if ('queue' in options && !isQueueName(options.queue)) {
    found.push(texts.option(handler, 'queue', texts.queueExpected, options.queue));
  }
  const lines: readonly unknown[] = Array.isArray(onError) ? onError : [onError];
  lines.forEach((line, index) => {
    const isLast = index === lines.length - 1;
    if (isErrorRule(line) || (isLast && isFailurePolicy(line))) return;
    const expected = isLast ? `on(...) or ${POLICY_EXPECTED}` : 'on(...) before the last';
    found.push(texts.option(handler, 'onError', expected, line));
  });
  return found;
}

/** Faults of single values, after defaults. */
export function valueFaults(
  subscription: SubscriptionMetadata,
  given: { readonly backoff: unknown; readonly timeout: unknown },
): string[] {
  const { handler, prefetch, retry, queueType, deadLetter, timeout } = subscription;
  const found: string[] = [];
  const expect = (holds: boolean, option: string, expected: string, value: unknown): void => {
    if (!holds) found.push(texts.option(handler, option, expected, value));
  };
  const by = "'client' or 'broker'";
  const isPrefetch = prefetch === undefined || isWhole(prefetch, 1, 65_535);
  expect(isPrefetch, 'prefetch', 'a whole number from 1 to 65 535', prefetch);
  const isType = queueType === 'classic' || queueType === 'quorum';
  expect(isType, 'queueType', "'classic' or 'quorum'", queueType);
  if (retry !== undefined) {
    const isAttempts = isWhole(retry.attempts, 1, MOST_ATTEMPTS);
    expect(isAttempts, 'retry.attempts', 'a whole number from 1 to 10 000', retry.attempts);
    const { maxDeliveries, attempts } = retry;
    const isBound = !isAttempts || isWhole(maxDeliveries, attempts, Number.MAX_SAFE_INTEGER);
    const bound = 'a whole number, retry.attempts at the least';
    expect(isBound, 'retry.maxDeliveries', bound, maxDeliveries);
    expect(retry.by === 'client' || retry.by === 'broker', 'retry.by', by, retry.by);
    expect(isBackoff(given.backoff), 'retry.backoff', texts.backoffExpected, given.backoff);
  }
  if (deadLetter !== undefined) {
    const isMover = deadLetter.by === 'client' || deadLetter.by === 'broker';
    expect(isMover, 'deadLetter.by', by, deadLetter.by);
    const isName = isQueueName(deadLetter.queue);
    expect(isName, 'deadLetter', 'the name of a queue, 1 to 255 bytes', deadLetter.queue);
  }
  const isTimeout = given.timeout === undefined || (timeout ?? 0) > 0;
  expect(isTimeout, 'timeout', `${texts.durationExpected}, longer than 0`, given.timeout);
  for (const { match } of subscription.onError.rules) {
    expect(isMatch(match), 'onError', texts.matchExpected, match);
  }
  const policies: [string, FailurePolicy][] = [
    ['onPanic', subscription.onPanic],
    ['onInvalidPayload', subscription.onInvalidPayload],
    ...subscription.onError.rules.map((rule): [string, FailurePolicy] => ['onError', rule.policy]),
  ];
  for (const [option, policy] of policies) {
    expect(isFailurePolicy(policy), option, POLICY_EXPECTED, policy);
  }
  return found;
}

/** Faults of options that do not go together. */
export function combinationFaults(
  subscription: SubscriptionMetadata,
  options: SubscribeOptions,
): string[] {
  const { handler, queue, retry, deadLetter, noAck, queueType, queueOptions } = subscription;
  const found: string[] = [];
  const refuse = (refused: boolean, option: string, expected: string, value: unknown): void => {
    if (refused) found.push(texts.option(handler, option, expected, value));
  };
  const type: unknown = queueOptions.arguments?.['x-queue-type'];
  const typeArgument = "queueOptions.arguments['x-queue-type']";
  const otherType = type !== undefined && type !== queueType;
  refuse(otherType, typeArgument, 'the same type as queueType says', type);
  const isTransient = queueOptions.durable === false || queueOptions.exclusive === true;
  const transientQuorum = queueType === 'quorum' && (isTransient || queue === undefined);
  refuse(transientQuorum, 'queueType', texts.classicExpected, queueType);
  refuse(noAck && options.retry !== undefined, 'retry', texts.notWithNoAck, options.retry);
  const deadNoAck = noAck && options.deadLetter !== undefined;
  refuse(deadNoAck, 'deadLetter', texts.notWithNoAck, options.deadLetter);
  const toItself = deadLetter !== undefined && deadLetter.queue === queue;
  refuse(toItself, 'deadLetter', 'another queue than the subscription has', queue);
  const route: unknown =
    queueOptions.deadLetterExchange ?? queueOptions.arguments?.['x-dead-letter-exchange'];
  const twoRoutes = deadLetter !== undefined && route !== undefined;
  refuse(twoRoutes, 'queueOptions', texts.oneDeadLetterRoute, route);
  const undecodable = isFailurePolicy(subscription.onInvalidPayload)
    ? policyName(subscription.onInvalidPayload)
    : undefined;
  const endless = undecodable === 'retry' || undecodable === 'retryAfter';
  refuse(retry === undefined && endless, 'onInvalidPayload', texts.endingExpected, undecodable);
  if (retry?.by === 'broker') {
    const quorum = "'client', or queueType: 'quorum'";
    refuse(queueType !== 'quorum', 'retry.by', quorum, 'broker');
    const isLinear = isLinearWithoutJitter(subscription.backoff);
    refuse(!isLinear, 'retry.backoff', texts.linearExpected, options.retry?.backoff);
  }
  if (queue === undefined) {
    const { backoff } = options.retry ?? {};
    const named = 'a queue with a name: what waits for a server-named queue outlives it';
    refuse(backoff !== undefined, 'retry.backoff', named, backoff);
    refuse(deadLetter?.by === 'broker', 'deadLetter.by', named, 'broker');
    refuse(retry?.by === 'broker', 'retry.by', named, 'broker');
  }
  return found;
}

function isMatch(match: unknown): boolean {
  const matches: readonly unknown[] = Array.isArray(match) ? match : [match];
  return matches.every((one) => typeof one === 'function');
}

function isLinearWithoutJitter(backoff: unknown): boolean {
  const { linear, jitter } = backoffDeclarationOf(backoff) ?? {};
  return linear !== undefined && jitter === 0;
}

function isBackoff(value: unknown): boolean {
  if (value === undefined) return true;
  return (
    typeof value === 'object' &&
    value !== null &&
    'delay' in value &&
    typeof value.delay === 'function'
  );
}

function isWhole(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** Whether a value can name a queue: a text of 1 to 255 bytes. */
export function isQueueName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= 255;
}
