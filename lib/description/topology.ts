import type { BrokerConnection } from '../amqp/connection';
import { type ConsumedSubscription, methodsOf } from '../amqp/consumed-subscription';
import {
  deadLetterDeclarationOf,
  type QueueDeclaration,
  queueDeclarationOf,
  type ServerVersion,
  waitingDeclarationOf,
} from '../amqp/queue-declarations';
import { delaysAtStartup, waitingQueueOf } from '../amqp/waiting-queues';
import { wireArgumentsOf } from '../amqp/wire-arguments';
import { exactDelaysOf } from '../delivery/waiting-delay';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { BindingDescription, ExchangeDescription, QueueDescription } from './description';

/** The queues of a consumer, each once: its own, the waiting queues that are known, the dead-letter queues. */
export function queuesOf(
  subscription: ConsumedSubscription,
  version: ServerVersion,
): readonly QueueDescription[] {
  const { queue, declare } = subscription;
  const own = described(queueDeclarationOf(subscription, version), {
    name: queue,
    purpose: 'subscription',
    declared: declare.queue || queue === undefined ? 'startup' : 'never',
  });
  const methods = methodsOf(subscription);
  const all = [
    own,
    ...methods.flatMap(waitingQueuesOf),
    ...methods.flatMap((method) => deadLetterQueueOf(method, version)),
  ];
  return all.filter((one, index) => index === all.findIndex(({ name }) => name === one.name));
}

type Identity = Pick<QueueDescription, 'name' | 'purpose' | 'declared'>;

function described(declaration: QueueDeclaration, identity: Identity): QueueDescription {
  const { durable = true, exclusive = false, autoDelete = false } = declaration;
  return {
    ...identity,
    durable,
    exclusive,
    autoDelete,
    arguments: wireArgumentsOf(declaration),
  };
}

// Delays that a handler chooses, and those of backoffs with jitter, are not known before they are used.
function waitingQueuesOf(subscription: SubscriptionMetadata): QueueDescription[] {
  const { queue, noAck, retry, declare } = subscription;
  if (queue === undefined || noAck || retry?.by === 'broker') return [];
  const atStartup = delaysAtStartup(subscription);
  const delays = new Set([
    ...atStartup,
    ...(retry === undefined ? [] : exactDelaysOf(subscription)),
  ]);
  return [...delays].map((ms) => {
    const { name, type, delayMs } = waitingQueueOf(subscription, queue, ms);
    const declared = atStartup.has(ms) ? 'startup' : 'first use';
    return described(waitingDeclarationOf(queue, type, delayMs), {
      name,
      purpose: 'waiting',
      declared: declare.waiting ? declared : 'never',
    });
  });
}

function deadLetterQueueOf(
  { deadLetter, queueType, declare }: SubscriptionMetadata,
  version: ServerVersion,
): QueueDescription[] {
  if (deadLetter === undefined) return [];
  const { queue: name, queueOptions } = deadLetter;
  const declared = declare.deadLetter ? 'startup' : 'never';
  const declaration = deadLetterDeclarationOf(queueType, queueOptions, version);
  return [described(declaration, { name, purpose: 'dead-letter', declared })];
}

/** The bindings of the queue. */
export function bindingsOf({
  bindings,
  queueOptions,
  declare,
}: SubscriptionMetadata): readonly BindingDescription[] {
  return bindings.map(({ exchange, routingKey = '' }) => ({
    exchange,
    routingKey,
    arguments: queueOptions.bindQueueArguments ?? {},
    isDeclared: declare.bindings,
  }));
}

/** The exchanges that the queue is bound to. */
export function exchangesOf(
  { bindings }: SubscriptionMetadata,
  { exchanges }: Pick<BrokerConnection, 'exchanges'>,
): readonly ExchangeDescription[] {
  const names = new Set(bindings.map(({ exchange }) => exchange));
  return [...names].map(
    (name) =>
      exchanges.find((one) => one.name === name) ?? {
        name,
        type: undefined,
        durable: true,
        autoDelete: false,
        internal: false,
        arguments: {},
      },
  );
}
