import { texts } from '../log/texts';
import { DEFAULT_BACKOFF } from '../model/backoff';
import type { BatchOptions, OrderOptions, RateOptions } from '../model/consumer-options';
import { milliseconds } from '../model/duration';
import type {
  DeadLetterOptions,
  DeclareOptions,
  QueueType,
  RetryOptions,
  SubscribeDefaults,
  SubscribeOptions,
} from '../model/options';
import type { DecompressOptions } from '../model/payload-options';
import { type ErrorPolicy, isErrorRule, isFailurePolicy } from '../model/policy';
import { bytes } from '../model/size';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { bindingFaults, bindingsOf } from './bindings';
import { optionFaults } from './checks';
import { killSwitchOf } from './kill-switch-options';
import { effectiveOptions } from './option-values';

/** The default of `retry.maxDeliveries` for few attempts. */
const LEAST_MAX_DELIVERIES = 1_000;

const faults = new WeakMap<SubscriptionMetadata, readonly string[]>();

/** The faults in the options of a subscription, a line each. */
export function faultsOf(subscription: SubscriptionMetadata): readonly string[] {
  return faults.get(subscription) ?? [];
}

/**
 * The metadata of a subscription: defaults filled in, durations in ms, frozen. Never throws: faults are
 * read with {@link faultsOf}, so that a class that this application does not use can't stop it.
 * @param handler the class and method, as log lines name them.
 */
export function normalize(
  handler: string,
  options: SubscribeOptions,
  defaults: SubscribeDefaults = {},
): SubscriptionMetadata {
  try {
    return checked(handler, options, defaults);
  } catch (error) {
    const subscription = checked(handler, {}, {});
    const expected = 'an object whose properties can be read';
    faults.set(subscription, [texts.option(handler, 'options', expected, error)]);
    return subscription;
  }
}

function checked(
  handler: string,
  options: SubscribeOptions,
  defaults: SubscribeDefaults,
): SubscriptionMetadata {
  const queue = 'queue' in options ? options.queue : undefined;
  const noAck = options.noAck ?? options.queueOptions?.consumerOptions?.noAck ?? false;
  const retry = options.retry ?? (noAck ? undefined : defaults.retry);
  const deadLetter =
    options.deadLetter ?? (noAck || !queue ? undefined : defaultDeadLetter(queue, defaults));
  const killSwitch = options.killSwitch ?? (noAck ? undefined : defaults.killSwitch);
  const given = effectiveOptions({ ...options }, { ...defaults });
  const effective = { ...given, retry, deadLetter, killSwitch };
  // What is not of its type is one of the faults, and the application does not start.
  const valid = effective as Required<SubscribeOptions>;
  const batch = batchOf(valid.batch);
  const subscription: SubscriptionMetadata = {
    handler,
    name: options.name ?? queue ?? '',
    connection: options.connection,
    queue,
    queueType: queueTypeOf(options, defaults),
    queueOptions: Object.freeze({ ...options.queueOptions }),
    bindings: Object.freeze(bindingsOf(options)),
    prefetch: options.prefetch ?? (batch ? batch.size * batch.concurrency : valid.prefetch),
    concurrency: batch ? options.concurrency : valid.concurrency,
    rate: rateOf(valid.rate),
    batch,
    stuckAfter: milliseconds(valid.stuckAfter) ?? 0,
    order: orderOf(valid.order),
    singleActiveConsumer: valid.singleActiveConsumer,
    consumerPriority: valid.consumerPriority,
    consumerTimeout: milliseconds(valid.consumerTimeout),
    retry: retryOf(retry),
    backoff: retry?.backoff ?? DEFAULT_BACKOFF,
    deadLetter: deadLetterOf(deadLetter),
    timeout: valid.timeout === undefined ? undefined : milliseconds(valid.timeout),
    onError: errorPolicyOf(valid.onError),
    onPanic: valid.onPanic,
    onInvalidPayload: valid.onInvalidPayload,
    requestScope: valid.requestScope,
    noAck,
    declare: declareOf(valid.declare, options.createQueueIfNotExists),
    deserializer: valid.deserializer,
    allowNonJsonMessages: valid.allowNonJsonMessages,
    schema: valid.schema,
    when: valid.when,
    onUnmatched: valid.onUnmatched,
    decompress: decompressOf(valid.decompress),
    killSwitch: killSwitchOf(killSwitch),
    options,
  };
  Object.freeze(subscription);
  faults.set(subscription, [
    ...optionFaults(subscription, options, effective),
    ...bindingFaults(subscription),
  ]);
  return subscription;
}

function decompressOf(
  decompress: DecompressOptions | undefined,
): SubscriptionMetadata['decompress'] {
  const max = bytes(decompress?.max);
  return max === undefined ? undefined : Object.freeze({ max });
}

function batchOf(batch: BatchOptions | undefined): SubscriptionMetadata['batch'] {
  if (typeof batch !== 'object' || batch === null) return undefined;
  const { size, wait = '200ms', concurrency = 1, isolateRetries = true } = batch;
  return Object.freeze({ size, wait: milliseconds(wait) ?? 0, concurrency, isolateRetries });
}

function orderOf(order: OrderOptions | undefined): SubscriptionMetadata['order'] {
  if (typeof order !== 'object' || order === null) return undefined;
  const { hold = '1m', whenStuck = 'pause', hotKeyAfter = '10s', instances } = order;
  const by: OrderOptions['by'] = (delivery) => order.by(delivery);
  return Object.freeze({
    by,
    hold: milliseconds(hold) ?? 0,
    whenStuck,
    hotKeyAfter: milliseconds(hotKeyAfter) ?? 0,
    instances,
  });
}

function rateOf(rate: RateOptions | undefined): SubscriptionMetadata['rate'] {
  const per = milliseconds(rate?.per);
  if (rate === undefined || per === undefined) return undefined;
  return Object.freeze({ limit: rate.limit, per });
}

function retryOf(retry: RetryOptions | undefined): SubscriptionMetadata['retry'] {
  if (!retry) return undefined;
  const { attempts, by = 'client' } = retry;
  const { maxDeliveries = Math.max(LEAST_MAX_DELIVERIES, 10 * attempts) } = retry;
  const maxAge = milliseconds(retry.maxAge);
  return Object.freeze({ attempts, by, maxDeliveries, maxAge });
}

function defaultDeadLetter(
  queue: string,
  { deadLetter }: SubscribeDefaults,
): string | DeadLetterOptions | undefined {
  try {
    return deadLetter?.(queue) ?? undefined;
  } catch (error) {
    return { queue: error as never }; // Not the name of a queue: the fault shows what was thrown.
  }
}

function queueTypeOf(options: SubscribeOptions, defaults: SubscribeDefaults): QueueType {
  const argument: unknown = options.queueOptions?.arguments?.['x-queue-type'];
  const declared = argument === 'quorum' || argument === 'classic' ? argument : undefined;
  const fallback =
    'queue' in options || options.name !== undefined ? defaults.queueType : undefined;
  return options.queueType ?? declared ?? fallback ?? 'classic';
}

function deadLetterOf(
  value: string | DeadLetterOptions | undefined,
): SubscriptionMetadata['deadLetter'] {
  if (value === undefined) return undefined;
  const given: DeadLetterOptions = typeof value === 'string' ? { queue: value } : value;
  return Object.freeze({
    queue: given.queue,
    by: given.by ?? 'client',
    stack: given.stack ?? false,
    queueOptions: Object.freeze({ ...given.queueOptions }),
  });
}

function declareOf(
  given: boolean | DeclareOptions,
  createQueueIfNotExists: boolean | undefined,
): SubscriptionMetadata['declare'] {
  const all = typeof given === 'boolean' ? given : true;
  const parts = typeof given === 'boolean' ? {} : given;
  return Object.freeze({
    queue: parts.queue ?? (all && createQueueIfNotExists !== false),
    bindings: given !== false,
    waiting: parts.waiting ?? all,
    deadLetter: parts.deadLetter ?? all,
  });
}

function errorPolicyOf(value: NonNullable<SubscribeOptions['onError']>): ErrorPolicy {
  const list = (Array.isArray(value) ? value : [value]) as readonly unknown[];
  const last = list.at(-1);
  const otherwise = isFailurePolicy(last) ? last : 'drop';
  return Object.freeze({ rules: Object.freeze(list.filter(isErrorRule)), otherwise });
}
