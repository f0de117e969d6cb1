import type { BrokerConnection } from '../amqp/connection';
import type { ConsumedSubscription } from '../amqp/consumed-subscription';
import { listed } from '../log/format';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { PlannedSubscription } from './planner';

/** One consumer that is to be started: the methods of one queue, in the order in which they were found. */
export interface PlannedConsumer {
  /** What the consumer declares and consumes; of a queue with one method its subscription. */
  readonly subscription: ConsumedSubscription;
  readonly methods: readonly PlannedSubscription[];
  readonly connection: BrokerConnection;
  /** Whether messages are assigned to methods by `when`. */
  readonly isSelective: boolean;
}

/** The consumers of the planned subscriptions: one for each, or for all methods of a queue. */
export function consumersOf(planned: readonly PlannedSubscription[]): readonly PlannedConsumer[] {
  const groups: PlannedSubscription[][] = [];
  for (const plan of planned) {
    const group = groups.find(([first]) => first !== undefined && shareQueue(first, plan));
    if (group === undefined) groups.push([plan]);
    else group.push(plan);
  }
  return groups.flatMap((methods) => {
    const [first] = methods;
    if (first === undefined) return [];
    const isSelective = methods.some(({ subscription }) => subscription.when !== undefined);
    const subscription = isSelective ? joined(first.subscription, methods) : first.subscription;
    return [{ subscription, methods, connection: first.connection, isSelective }];
  });
}

/** Whether two subscriptions consume the same queue. */
export function shareQueue(one: PlannedSubscription, other: PlannedSubscription): boolean {
  const { queue } = one.subscription;
  return (
    queue !== undefined && queue === other.subscription.queue && one.connection === other.connection
  );
}

// What the methods share, under the names of all.
function joined(
  first: SubscriptionMetadata,
  methods: readonly PlannedSubscription[],
): ConsumedSubscription {
  const all = methods.map(({ subscription }) => subscription);
  const firstOf = <T>(read: (subscription: SubscriptionMetadata) => T | undefined): T | undefined =>
    all.map(read).find((value) => value !== undefined);
  return Object.freeze({
    ...first,
    handler: listed(all.map(({ handler }) => handler)),
    bindings: Object.freeze(all.flatMap(({ bindings }) => bindings)),
    prefetch: firstOf(({ prefetch }) => prefetch),
    ...retries(all.find(({ retry }) => retry !== undefined) ?? first),
    deadLetter: firstOf(({ deadLetter }) => deadLetter),
    killSwitch: firstOf(({ killSwitch }) => killSwitch),
    onUnmatched: firstOf(({ onUnmatched }) => onUnmatched),
    // What one method limits does not hold back what none takes.
    batch: undefined,
    concurrency: undefined,
    rate: undefined,
    when: undefined,
    schema: undefined,
    methods: Object.freeze(all),
  });
}

function retries({
  retry,
  backoff,
}: SubscriptionMetadata): Pick<SubscriptionMetadata, 'retry' | 'backoff'> {
  return { retry, backoff };
}
