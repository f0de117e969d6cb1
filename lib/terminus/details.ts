import { thrownName } from '../log/thrown';
import type { DeliveryInFlight, SubscriptionStatus } from '../model/subscription-status';

/** A subscription in the details of a result. Texts of errors stay in the log: the endpoint can be public. */
export function subscriptionDetails(status: SubscriptionStatus): Record<string, unknown> {
  const { subscription, state, cause, since, inFlight, waiting, lastError } = status;
  return {
    handler: subscription.handler,
    queue: subscription.queue,
    state,
    ...(cause !== undefined && { cause }),
    since: since.toISOString(),
    inFlight,
    waiting,
    ...(lastError && { lastError: thrownName(lastError) }),
  };
}

/** A delivery that is in flight for too long, in the details of a result. */
export function deliveryDetails(delivery: DeliveryInFlight): Record<string, unknown> {
  const { subscription, queue, messageId, attempt, ageMs } = delivery;
  return {
    handler: subscription.handler,
    queue,
    messageId,
    attempt,
    seconds: Math.round(ageMs / 1_000),
  };
}
