import type { Clock } from '../clock';
import type { DeliveryRecord } from '../delivery/delivery';
import { HandlerTimeoutError } from '../outcome/errors';
import { messages } from '../outcome/messages';
import type { Outcome } from '../outcome/outcome';
import { Failed } from './failed';
import type { Interceptor } from './interceptor';

/**
 * The stage that ends a delivery after `timeout` ms, decoding included: the signal aborts, the chain
 * goes on with the failure, and what the handler still does settles nothing.
 */
export function timeoutStage(clock: Clock, timeout: number): Interceptor<DeliveryRecord> {
  return (delivery, next) =>
    new Promise<Outcome>((resolve, reject) => {
      const end = (): void => {
        const { handler } = delivery.subscription;
        const error = new HandlerTimeoutError(messages.timedOut(handler, timeout), timeout);
        delivery.abort(error);
        reject(new Failed('timeout', error));
      };
      // In the background: a handler that outlives the application keeps no process.
      const timer = clock.after(timeout, end, { background: true });
      next()
        .finally(() => timer.cancel())
        .then(resolve, reject);
    });
}
