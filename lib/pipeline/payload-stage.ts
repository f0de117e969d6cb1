import type { DeliveryRecord } from '../delivery/delivery-record';
import { isThenable } from '../model/thenable';
import type { FailureToOutcome } from './failure-policy';
import { HandlerFailure } from './handler-failure';
import type { Handling } from './interceptor';

/**
 * A stage that sets the payload of a delivery before the inner stage runs, at once or, if `produce` returns
 * a promise, later. A failure ends the delivery here: the inner stage, whatever it is, gets valid payloads
 * only.
 * @param produce returns the payload, or throws or rejects.
 */
export function payloadStage(
  produce: (delivery: DeliveryRecord) => unknown,
  failureOf: (error: unknown) => HandlerFailure,
  toOutcome: FailureToOutcome,
  inner: Handling<DeliveryRecord>,
): Handling<DeliveryRecord> {
  const set = (delivery: DeliveryRecord, payload: unknown): void => {
    delivery.payload = payload;
    delivery.isDecoded = true;
  };
  const later = async (payload: PromiseLike<unknown>, delivery: DeliveryRecord) => {
    try {
      set(delivery, await payload);
    } catch (error) {
      return toOutcome(failureOf(error), delivery);
    }
    // A handler is not started for a delivery that has timed out or lost its channel meanwhile.
    const { abortReason } = delivery;
    return abortReason === undefined
      ? inner(delivery)
      : toOutcome(new HandlerFailure('body', abortReason), delivery);
  };
  return (delivery) => {
    try {
      const payload = produce(delivery);
      if (isThenable(payload)) return later(payload, delivery);
      set(delivery, payload);
    } catch (error) {
      return toOutcome(failureOf(error), delivery);
    }
    return inner(delivery);
  };
}
