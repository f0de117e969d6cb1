import { texts } from '../log/texts';
import type { SubscribeOptions } from '../model/options';
import { isErrorRule, isFailurePolicy, POLICY_EXPECTED } from '../model/policy';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { combinationFaults } from './combination-checks';
import { BATCH_OPTIONS, ORDER_OPTIONS, RATE_OPTIONS } from './consumer-option-table';
import { KILL_SWITCH_OPTIONS } from './kill-switch-options';
import {
  DEAD_LETTER_OPTIONS,
  DECOMPRESS_OPTIONS,
  type OptionRow,
  RETRY_OPTIONS,
  SUBSCRIBE_OPTIONS,
  WHEN_OPTIONS,
} from './option-table';
import { valueFaults } from './option-values';
import { isMatch, isQueueName } from './value-checks';

/**
 * Every fault in the options of a subscription, a line each.
 * @param effective the values of all options, defaults included.
 */
export function optionFaults(
  subscription: SubscriptionMetadata,
  options: SubscribeOptions,
  effective: Readonly<Record<keyof SubscribeOptions, unknown>>,
): string[] {
  const { handler } = subscription;
  return [
    ...unknownOptions(handler, options),
    ...queueFaults(handler, options),
    ...valueFaults(handler, '', SUBSCRIBE_OPTIONS, { ...effective, queue: undefined }),
    ...onErrorFaults(handler, effective.onError),
    ...nestedFaults(handler, 'retry', RETRY_OPTIONS, effective.retry),
    ...nestedFaults(handler, 'decompress', DECOMPRESS_OPTIONS, effective.decompress),
    ...nestedFaults(handler, 'when', WHEN_OPTIONS, effective.when),
    ...nestedFaults(handler, 'batch', BATCH_OPTIONS, effective.batch),
    ...nestedFaults(handler, 'order', ORDER_OPTIONS, effective.order),
    ...nestedFaults(handler, 'rate', RATE_OPTIONS, effective.rate),
    ...nestedFaults(handler, 'killSwitch', KILL_SWITCH_OPTIONS, effective.killSwitch),
    ...deadLetterFaults(subscription),
    ...combinationFaults(subscription, options),
  ];
}

function unknownOptions(handler: string, options: SubscribeOptions): string[] {
  return Object.keys(options)
    .filter((option) => !Object.hasOwn(SUBSCRIBE_OPTIONS, option))
    .map((option) => texts.unknownOption(handler, option));
}

// A queue that is undefined on purpose is a mistake; a server-named queue has no such option.
function queueFaults(handler: string, options: SubscribeOptions): string[] {
  if (!('queue' in options) || isQueueName(options.queue)) return [];
  return [texts.option(handler, 'queue', texts.queueExpected, options.queue)];
}

function onErrorFaults(handler: string, onError: unknown): string[] {
  const lines: readonly unknown[] = Array.isArray(onError) ? onError : [onError];
  const fault = (expected: string, value: unknown): string =>
    texts.option(handler, 'onError', expected, value);
  if (lines.length === 0) return [fault('at least one rule or policy', onError)];
  return lines.flatMap((line, index) => {
    const isLast = index === lines.length - 1;
    if (isErrorRule(line)) {
      return [
        ...(isMatch(line.match) ? [] : [fault(texts.matchExpected, line.match)]),
        ...(isFailurePolicy(line.policy) ? [] : [fault(POLICY_EXPECTED, line.policy)]),
      ];
    }
    if (isLast && isFailurePolicy(line)) return [];
    return [fault(isLast ? `on(...) or ${POLICY_EXPECTED}` : 'on(...) before the last', line)];
  });
}

function nestedFaults(
  handler: string,
  option: string,
  rows: Readonly<Record<string, OptionRow>>,
  value: unknown,
): string[] {
  return value ? valueFaults(handler, `${option}.`, rows, { ...Object(value) }) : [];
}

function deadLetterFaults({ handler, deadLetter }: SubscriptionMetadata): string[] {
  if (deadLetter === undefined) return [];
  const { expected } = SUBSCRIBE_OPTIONS.deadLetter;
  const { queue } = deadLetter;
  return [
    ...(isQueueName(queue) ? [] : [texts.option(handler, 'deadLetter', expected, queue)]),
    ...valueFaults(handler, 'deadLetter.', DEAD_LETTER_OPTIONS, { ...deadLetter }),
  ];
}
