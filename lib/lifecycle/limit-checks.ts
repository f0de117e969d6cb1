import type { BrokerConnection } from '../amqp/connection';
import { texts } from '../log/texts';
import { consumerTimeoutOf } from '../model/consumer-timeout';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { hasDecoratedParameters } from '../nest/parameters';
import type { PlannedSubscription } from './planner';
import { prefetchOf } from './planning-checks';

/** Limits and batches that the prefetch or the consumer timeout does not allow, a line each. */
export function limitFaults(
  subscription: SubscriptionMetadata,
  connection: BrokerConnection,
): string[] {
  const { handler, concurrency, batch, rate, options } = subscription;
  const prefetch = prefetchOf(subscription, connection);
  const timeout = consumerTimeoutOf(subscription) ?? Number.POSITIVE_INFINITY;
  const faults: string[] = [];
  const refuse = (isRefused: boolean, option: string, expected: string, value: unknown): void => {
    if (isRefused) faults.push(texts.option(handler, option, expected, value));
  };
  const isAbove = concurrency !== undefined && concurrency > prefetch && batch === undefined;
  refuse(isAbove, 'concurrency', texts.withinPrefetch(prefetch), concurrency);
  if (batch !== undefined) {
    const least = batch.size * batch.concurrency;
    const isOutside = prefetch < least || least > 65_535;
    refuse(isOutside, 'prefetch', texts.prefetchOfBatches(least), prefetch);
    const expected = texts.batchWaitsTooLong(timeout);
    refuse(batch.wait >= timeout / 2, 'batch.wait', expected, options.batch?.wait ?? batch.wait);
  }
  if (rate !== undefined) {
    const heldBack = (prefetch / (batch?.size ?? 1) / rate.limit) * rate.per;
    const expected = texts.heldBackTooLong(prefetch, heldBack, timeout);
    refuse(heldBack > timeout / 2, 'rate', expected, options.rate ?? rate);
  }
  return faults;
}

/** Methods that cannot take batches, a line each. */
export function batchFaults(planned: readonly PlannedSubscription[]): string[] {
  return planned
    .filter(({ subscription }) => subscription.batch !== undefined)
    .filter(({ handler }) => hasDecoratedParameters(handler))
    .map(({ handler }) => texts.batchParameters(handler.label));
}
