import type { DeliveryRecord } from '../delivery/delivery-record';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import { UnmatchedMessageError } from '../model/errors';
import type { IsPanic } from './classification';
import { failureToOutcome } from './failure-policy';
import { HandlerFailure } from './handler-failure';
import type { Handling } from './interceptor';

/** What happens to a message that no method of its queue takes: `onUnmatched` decides. */
export function unmatchedHandling(
  log: SubscriptionLog,
  isPanic: IsPanic | undefined,
): Handling<DeliveryRecord> {
  const toOutcome = failureToOutcome(log, isPanic);
  return (delivery) => {
    const { queue, routingKey, message } = delivery;
    const error = new UnmatchedMessageError(
      texts.unmatched(queue, routingKey, message.properties.type),
    );
    return delivery.inContext(() => toOutcome(new HandlerFailure('unmatched', error), delivery));
  };
}
