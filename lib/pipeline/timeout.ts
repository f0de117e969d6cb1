import type { Clock } from '../clock';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { texts } from '../log/texts';
import { HandlerTimeoutError } from '../model/errors';
import { DONE, type Outcome } from '../model/outcome';
import { isThenable } from '../model/thenable';
import { Deadlines } from './deadlines';
import type { FailureToOutcome } from './failure-policy';
import { HandlerFailure } from './handler-failure';
import type { Handling } from './interceptor';

/**
 * Decides the failures of the stages inside of a timeout; once the delivery has timed out, its outcome is
 * known and no policy applies.
 */
export function unlessTimedOut(toOutcome: FailureToOutcome): FailureToOutcome {
  return (failed, delivery) =>
    delivery.abortReason instanceof HandlerTimeoutError ? DONE : toOutcome(failed, delivery);
}

/**
 * The stage that ends a delivery after `timeout` ms, decoding included: the signal aborts, the outcome is that
 * of a `HandlerTimeoutError`, and what the handler does afterwards settles nothing.
 */
export function timeoutStage(
  clock: Clock,
  timeout: number,
  toOutcome: FailureToOutcome,
  inner: Handling<DeliveryRecord>,
): Handling<DeliveryRecord> {
  const deadlines = new Deadlines(clock, timeout);
  return (delivery) => {
    const since = clock.monotonic();
    const running = inner(delivery);
    if (!isThenable(running)) return running;
    return new Promise<Outcome>((resolve, reject) => {
      const expire = (): void => {
        const { handler } = delivery.subscription;
        const error = new HandlerTimeoutError(texts.timedOut(handler, timeout), timeout);
        delivery.abort(error);
        resolve(toOutcome(new HandlerFailure('timeout', error), delivery));
      };
      const deadline = deadlines.set(since, () => delivery.inContext(expire));
      running.then(
        (outcome) => {
          deadlines.met(deadline);
          resolve(outcome);
        },
        (error: unknown) => {
          deadlines.met(deadline);
          reject(error);
        },
      );
    });
  };
}
