import type {
  ApplicationDescription,
  ConsumerDescription,
  SubscriptionDescription,
} from './description';

/** What a document says about the application. */
export interface DocumentInfo {
  readonly title: string;
  readonly version: string;
}

type Table = Record<string, unknown>;

/**
 * An AsyncAPI 3 document of the subscriptions: a channel for each queue, an operation and a message for each
 * method. `x-settle` has what AsyncAPI has no words for: bindings, attempts, delays, dead letters, effects.
 */
export function asyncApiOf({ consumers }: ApplicationDescription, info: DocumentInfo): object {
  const channels: Table = {};
  const operations: Table = {};
  for (const consumer of consumers) {
    const channel = freeName(channels, consumer.queue ?? 'server-named');
    const messages: Table = {};
    channels[channel] = channelOf(consumer, messages);
    for (const subscription of consumer.subscriptions) {
      const message = freeName(messages, subscription.handler);
      messages[message] = messageOf(subscription);
      operations[freeName(operations, subscription.handler)] = {
        action: 'receive',
        channel: { $ref: `#/channels/${channel}` },
        messages: [{ $ref: `#/channels/${channel}/messages/${message}` }],
        bindings: { amqp: { ack: !consumer.noAck, bindingVersion: '0.3.0' } },
        'x-settle': settleOf(subscription),
      };
    }
  }
  return {
    asyncapi: '3.0.0',
    info,
    defaultContentType: 'application/json',
    channels,
    operations,
  };
}

function channelOf(consumer: ConsumerDescription, messages: Table): object {
  const { queue, virtualHost: vhost, queues, bindings } = consumer;
  const own = queues.find(({ purpose }) => purpose === 'subscription');
  const { durable, exclusive, autoDelete } = own ?? {};
  return {
    address: queue ?? null,
    messages,
    bindings: {
      amqp: {
        is: 'queue',
        queue: { ...(queue && { name: queue }), durable, exclusive, autoDelete, vhost },
        bindingVersion: '0.3.0',
      },
    },
    'x-settle': {
      queueType: consumer.queueType,
      arguments: own?.arguments ?? {},
      bindings: bindings.map(({ exchange, routingKey }) => ({ exchange, routingKey })),
      prefetch: consumer.prefetch,
    },
  };
}

function messageOf({ handler, payload }: SubscriptionDescription): object {
  return { name: handler, ...(payload && { payload }) };
}

function settleOf({ payload: _payload, handler: _handler, ...settle }: SubscriptionDescription) {
  return settle;
}

// A name that references can hold as it is, and that nothing else has.
function freeName(taken: Table, name: string): string {
  const base = name.replace(/[^\w.-]/g, '_');
  let free = base;
  for (let count = 2; Object.hasOwn(taken, free); count += 1) free = `${base}_${count}`;
  return free;
}
