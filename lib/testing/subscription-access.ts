import type { ActiveSubscriptions } from '../lifecycle/active-subscriptions';
import { texts } from '../log/texts';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { MemoryTestBroker } from './memory-test-broker';
import type { TestBroker } from './test-broker';

/** The body in which a payload is published. */
export function bodyOf(payload: unknown): Buffer {
  if (Buffer.isBuffer(payload)) return payload;
  return payload === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(payload));
}

/**
 * The queue of a subscription, in memory also a server-named one.
 * @throws Error if its name is not known.
 */
export function queueOf(broker: TestBroker, subscription: SubscriptionMetadata): string {
  const named =
    broker instanceof MemoryTestBroker
      ? broker.consumerOf(subscription)?.queue
      : subscription.queue;
  if (named === undefined) throw new Error(texts.noQueueToDeliverTo(subscription.handler));
  return named;
}

/**
 * Trips the kill switch of a subscription.
 * @throws Error if it has none.
 */
export function tripKillSwitch(
  { list }: ActiveSubscriptions,
  subscription: SubscriptionMetadata,
): void {
  const active = list.find(({ methods }) =>
    methods.some((one) => one.subscription === subscription),
  );
  if (active?.killSwitch === undefined) throw new Error(texts.noKillSwitch(subscription.handler));
  active.killSwitch.trip();
}
