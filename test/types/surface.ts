// Checked by the compiler only: each line marked as an error has to be one.
import {
  ack,
  Delivery,
  drop,
  getSubscriptionToken,
  InjectSubscription,
  isOutcome,
  type Outcome,
  retryAfter,
  SettleHeaders,
  type Settlement,
  type SettlementEvents,
  Subscribe,
  type SubscriptionMetadata,
  type SubscriptionRegistry,
} from '../../lib';

interface Order {
  readonly id: string;
}

export class Billing {
  readonly title = 'billing';

  @Subscribe({ queue: 'q' })
  charge(order: Order, @Delivery() delivery: Delivery<Order>): Outcome | undefined {
    const id: string = delivery.payload.id;
    const signal: AbortSignal = delivery.signal;
    const attempt: number = delivery.attempt;
    // @ts-expect-error The attempt is the broker's and the module's.
    delivery.attempt = 2;
    // @ts-expect-error Nothing settles a delivery but its outcome.
    delivery.ack();
    return signal.aborted || attempt > 1 ? drop(id + order.id) : undefined;
  }

  @Subscribe({ queue: 'r' })
  refund(_order: unknown, _message: unknown, _headers: unknown, delivery: Delivery): void {
    // @ts-expect-error The payload is unknown until somebody says what it is.
    void delivery.payload.id;
  }
}

export const tokens: string[] = [
  getSubscriptionToken(Billing, 'charge'),
  getSubscriptionToken(Billing, 'refund', 'r'),
];
// @ts-expect-error No such method.
getSubscriptionToken(Billing, 'chrage');
// @ts-expect-error A property is no method.
getSubscriptionToken(Billing, 'title');
// @ts-expect-error A name is a text.
getSubscriptionToken(Billing, 'charge', 5);

export class Reader {
  @InjectSubscription(Billing, 'refund') readonly refund!: SubscriptionMetadata;

  constructor(
    @InjectSubscription(Billing, 'charge') readonly charge: SubscriptionMetadata,
    // @ts-expect-error No such method.
    @InjectSubscription(Billing, 'pay') readonly pay: SubscriptionMetadata,
  ) {}

  change(): void {
    // @ts-expect-error A subscription is frozen.
    this.charge.prefetch = 5;
  }
}

export function outcomes(value: unknown): void {
  const outcome: Outcome = ack()
    .andAfter(() => 'ignored')
    .andAfter(async ({ decision, status }) => void [decision.kind, status]);
  if (isOutcome(value)) void value.kind;
  void [drop(), drop('why'), retryAfter(), retryAfter(5), retryAfter('5m'), outcome];
  // @ts-expect-error No unit.
  retryAfter('5 minutes');
  // @ts-expect-error An outcome is frozen.
  outcome.kind = 'drop';
  // @ts-expect-error andAfter takes work.
  ack().andAfter('work');
  const header: 'x-settle-attempt' = SettleHeaders.attempt;
  void header;
}

export async function registry(subscriptions: SubscriptionRegistry): Promise<void> {
  await subscriptions.started;
  await subscriptions.pause(Billing, 'charge');
  await subscriptions.resume(Billing, 'charge', 'q');
  const { state, inFlight, lastError } = subscriptions.get(Billing, 'charge');
  void [state === 'consuming', inFlight + 1, lastError?.message];
  // @ts-expect-error No such state.
  void (state === 'running');
  // @ts-expect-error No such method.
  subscriptions.get(Billing, 'title');
  // @ts-expect-error The list is not to be changed.
  subscriptions.list().pop();
}

export function events(stream: SettlementEvents): void {
  stream.subscribe(({ delivery, decision, status, durationMs }: Settlement) => {
    void [delivery.queue, decision.kind, durationMs];
    // @ts-expect-error No such result.
    void (status === 'acked');
  });
}
