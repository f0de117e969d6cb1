import { texts } from '../log/texts';
import { consumerTimeoutOf } from '../model/consumer-timeout';
import type { SubscribeOptions } from '../model/options';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { Refuse } from './combination-checks';

/** Refuses batches, order and arguments of the consumer that do not go with other options. */
export function refuseConsumerOptions(
  subscription: SubscriptionMetadata,
  options: SubscribeOptions,
  refuse: Refuse,
): void {
  refuseArguments(subscription, options, refuse);
  refuseBatch(subscription, options, refuse);
  refuseOrder(subscription, refuse);
}

// Whatever can change the order, or return messages one by one.
function refuseOrder(subscription: SubscriptionMetadata, refuse: Refuse): void {
  const { order, queue, queueOptions, retry, deadLetter } = subscription;
  if (order === undefined) return;
  const args: Readonly<Record<string, unknown>> = { ...queueOptions.arguments };
  const isSingle =
    order.instances === 1 ||
    subscription.singleActiveConsumer ||
    args['x-single-active-consumer'] === true;
  refuse(!isSingle, 'order', texts.singleActiveExpected, subscription.options.order);
  refuse(subscription.noAck, 'order', texts.notWithNoAck, true);
  for (const option of ['batch', 'when'] as const) {
    const isSet = subscription[option] !== undefined;
    refuse(isSet, option, 'no such option beside order', subscription[option]);
  }
  refuse(retry?.by === 'broker', 'retry.by', "'client' beside order", 'broker');
  const isDeadLetter = order.whenStuck === 'deadLetter' && deadLetter === undefined;
  refuse(isDeadLetter, 'order.whenStuck', 'deadLetter beside it', order.whenStuck);
  const { autoDelete, exclusive, expires = args['x-expires'] } = queueOptions;
  const isPassing = queue === undefined || autoDelete || exclusive || expires !== undefined;
  refuse(isPassing === true, 'order', 'a queue that stays without its consumer', queue);
  const priority: unknown = queueOptions.maxPriority ?? args['x-max-priority'];
  refuse(priority !== undefined, 'order', 'a queue without priorities', priority);
  const timeout = consumerTimeoutOf(subscription);
  const isLong = timeout !== undefined && order.hold >= timeout;
  refuse(isLong, 'order.hold', texts.shorterThanTimeout(timeout ?? 0), order.hold);
}

function refuseBatch(
  { batch, noAck, requestScope }: SubscriptionMetadata,
  { concurrency }: SubscribeOptions,
  refuse: Refuse,
): void {
  if (batch === undefined) return;
  refuse(noAck, 'batch', texts.notWithNoAck, batch);
  refuse(requestScope === true, 'requestScope', 'false beside batch', requestScope);
  const expected = 'no such option beside batch, which has batch.concurrency';
  refuse(concurrency !== undefined, 'concurrency', expected, concurrency);
}

/** The arguments of RabbitMQ that options set. */
const ARGUMENTS = [
  ['singleActiveConsumer', 'x-single-active-consumer'],
  ['consumerTimeout', 'x-consumer-timeout'],
  ['consumerPriority', 'x-priority'],
] as const;

// An option and the argument that it sets, given both, can differ.
function refuseArguments(
  { queueOptions }: SubscriptionMetadata,
  options: SubscribeOptions,
  refuse: Refuse,
): void {
  const given: Readonly<Record<string, unknown>> = {
    ...queueOptions.arguments,
    ...queueOptions.consumerOptions?.arguments,
  };
  for (const [option, argument] of ARGUMENTS) {
    const isTwice = options[option] !== undefined && given[argument] !== undefined;
    refuse(isTwice, option, texts.notBesideArgument(argument), options[option]);
  }
  const { singleActiveConsumer } = options;
  const isExclusive = queueOptions.consumerOptions?.exclusive === true;
  const expected = 'false, or no exclusive consumer: the others could not stand by';
  refuse(singleActiveConsumer === true && isExclusive, 'singleActiveConsumer', expected, true);
}
