import type { BrokerConnection } from '../../../lib/amqp/connection';
import type { ServerVersion } from '../../../lib/amqp/queue-declarations';
import { describeConsumers } from '../../../lib/description/describe';
import type { ApplicationDescription } from '../../../lib/description/description';
import { consumersOf } from '../../../lib/lifecycle/planned-consumers';
import type { SubscribeOptions } from '../../../lib/model/options';
import { normalize } from '../../../lib/subscribe/normalize';

const connection = {
  name: 'default',
  virtualHost: '/',
  registersHandlers: true,
  prefetchOf: () => 10,
  exchanges: [
    {
      name: 'orders',
      type: 'topic',
      durable: true,
      autoDelete: false,
      internal: false,
      arguments: {},
    },
  ],
} as unknown as BrokerConnection;

/** The description of subscriptions, each with its label. */
export function described(
  methods: Readonly<Record<string, SubscribeOptions>>,
  version: ServerVersion = [4, 3],
): ApplicationDescription {
  const planned = Object.entries(methods).map(([label, options]) => ({
    handler: { label } as never,
    subscription: normalize(label, options),
    connection,
  }));
  return describeConsumers(consumersOf(planned), version);
}
