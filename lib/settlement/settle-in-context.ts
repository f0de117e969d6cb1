import type { SettleAction, Written } from '../amqp/port';
import type { InFlight } from './in-flight';

/**
 * Settles a delivery; `written` is called in its own asynchronous context. Acknowledgements are joined: else it
 * would be called in the context of the delivery that was settled first.
 */
export function settleInContext(
  { brokerDelivery, delivery }: InFlight,
  action: SettleAction,
  written: Written,
): void {
  brokerDelivery.settle(action, (isWritten) => delivery.inContext(() => written(isWritten)));
}
