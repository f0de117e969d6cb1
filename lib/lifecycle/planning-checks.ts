import type { BrokerConnection } from '../amqp/connection';
import { texts } from '../log/texts';
import { isPayloadSchema } from '../model/schema';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { GolevelupHandler } from '../nest/golevelup-handlers';
import { validatorOf } from '../pipeline/validator';
import { shareQueue } from './planned-consumers';
import type { PlannedSubscription } from './planner';
import { sharedQueueFaults } from './shared-queue-checks';

/** The connection of a subscription; a fault if there is none of its name. */
export function connectionFor(
  { handler, connection: wanted }: SubscriptionMetadata,
  connections: readonly BrokerConnection[],
  faults: string[],
): BrokerConnection | undefined {
  const names = connections.map(({ name }) => name);
  if (wanted === undefined && connections.length === 1) return connections[0];
  const found = connections.find(({ name }) => name === wanted);
  if (found === undefined) faults.push(texts.noConnectionFor(handler, wanted, names));
  return found;
}

/** Absent routing keys, a line each: bound as the empty key, which on these exchanges matches nothing else. */
export function routingFaults(
  { handler, bindings }: SubscriptionMetadata,
  connection: BrokerConnection,
): string[] {
  return bindings
    .filter(({ routingKey }) => routingKey === undefined)
    .filter(({ exchange }) => /^(direct|topic)$/.test(connection.exchangeTypeOf(exchange) ?? ''))
    .map(({ exchange }) => texts.missingRoutingKey(handler, exchange));
}

/** A schema that cannot be used: a class without rules, or the packages that a class needs are missing. */
export function schemaFaults({ handler, schema }: SubscriptionMetadata): string[] {
  if (!isPayloadSchema(schema)) return [];
  try {
    validatorOf(schema);
    return [];
  } catch (error) {
    return [texts.schema(handler, error)];
  }
}

/** How many deliveries of a subscription can be unsettled at once. */
export function prefetchOf(
  { prefetch, queueOptions }: SubscriptionMetadata,
  connection: BrokerConnection,
): number {
  return prefetch ?? connection.prefetchOf(queueOptions.channel);
}

/** Subscriptions that share a queue or a consumer tag and must not, a line each. */
export function conflictsIn(planned: readonly PlannedSubscription[]): string[] {
  const faults: string[] = [];
  planned.forEach((one, index) => {
    for (const other of planned.slice(0, index)) {
      if (one.connection !== other.connection) continue;
      const labels = [other.handler.label, one.handler.label] as const;
      if (shareQueue(one, other)) {
        faults.push(...sharedQueueFaults(other.subscription, one.subscription));
        continue;
      }
      const tag = one.subscription.queueOptions.consumerOptions?.consumerTag;
      const isSame = tag === other.subscription.queueOptions.consumerOptions?.consumerTag;
      if (tag && isSame) faults.push(texts.sharedConsumerTag(...labels, tag));
    }
  });
  return faults;
}

/** Queues that golevelup's own handlers consume as well, a line each. */
export function golevelupConflictsIn(
  planned: readonly PlannedSubscription[],
  handlers: readonly GolevelupHandler[],
): string[] {
  return planned.flatMap(({ handler, subscription: { queue }, connection }) =>
    handlers
      .filter(({ connection: name }) => name === undefined || name === connection.name)
      .filter((one) => queue !== undefined && queuesOf(one, connection).includes(queue))
      .map(({ label }) => texts.sharedWithGolevelup(handler.label, label, queue ?? '')),
  );
}

// As golevelup registers a handler: once, or once for each entry of its name in `handlers`.
function queuesOf(
  { queue, name, isController }: GolevelupHandler,
  connection: BrokerConnection,
): readonly (string | undefined)[] {
  if (isController && !connection.registersControllers) return [];
  const lookup = name ?? connection.defaultHandler;
  if (lookup === undefined) return [queue];
  return (connection.handlerOptions(lookup) ?? []).map((entry) => entry.queue ?? queue);
}
