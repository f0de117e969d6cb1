import type { DeliveryRecord } from '../delivery/delivery';
import type { Cause } from '../outcome/failure';
import { messages } from '../outcome/messages';
import { isOutcome, type Outcome } from '../outcome/outcome';
import { type FailurePolicy, outcomeOfPolicy } from '../outcome/policy';
import { answered } from '../outcome/thenable';
import type { SubscriptionLog } from '../subscription/log';
import { causeOf, type IsPanic } from './classification';
import { policyFor } from './error-rules';
import { Failed } from './failed';
import type { Chain } from './interceptor';

/** Turns what failed into the outcome that a policy of the subscription gives. Never throws. */
export type FailureToOutcome = (failed: Failed, delivery: DeliveryRecord) => Outcome;

/** The subscription's policies, asked in the handler's place. */
export function failureToOutcome(log: SubscriptionLog, isPanic?: IsPanic): FailureToOutcome {
  const guarded: IsPanic | undefined =
    isPanic &&
    ((error) => {
      try {
        return answered(isPanic(error));
      } catch (thrown) {
        log.error('isPanic', messages.isPanicThrew, thrown);
        return undefined;
      }
    });
  return (raised, delivery) => {
    const failed = withoutDisguise(raised, delivery.payload, guarded);
    const cause = causeOf(failed, delivery.payload, guarded);
    const policy = policyOf(cause, failed.error, delivery, log);
    const firstTime = delivery.attempt === 1 && !delivery.redelivered;
    if (failed.enhancer !== undefined && cause !== 'panic') {
      log.warn('enhancer', messages.enhancerRaised(failed.enhancer, delivery.messageId));
    }
    return outcomeOfPolicy(policy, cause, failed.error, firstTime);
  };
}

// A bug stays one when a filter or an interceptor has thrown another error in its place.
function withoutDisguise(failed: Failed, payload: unknown, isPanic: IsPanic | undefined): Failed {
  const body = failed.enhancer?.body;
  if (body === undefined) return failed;
  const original = new Failed('body', body.error);
  return causeOf(original, payload, isPanic) === 'panic' ? original : failed;
}

function policyOf(
  cause: Cause,
  error: unknown,
  delivery: DeliveryRecord,
  log: SubscriptionLog,
): FailurePolicy {
  const { subscription } = delivery;
  if (cause === 'panic') return subscription.onPanic;
  if (cause === 'undecodable') return subscription.onUndecodable;
  return policyFor(subscription.onError, error, delivery, (thrown) =>
    log.error('rule', messages.ruleThrew, thrown),
  );
}

/**
 * The outermost end: what an interceptor of the application throws, or resolves with that is no
 * outcome, is an error under `onError`. The promise never rejects.
 */
export function contained(
  chain: Chain<DeliveryRecord>,
  toOutcome: FailureToOutcome,
): Chain<DeliveryRecord> {
  const failed = (error: unknown, delivery: DeliveryRecord): Outcome =>
    toOutcome(Failed.from(error, 'interceptor'), delivery);
  return (delivery) =>
    Promise.resolve(chain(delivery)).then(
      (outcome: unknown) =>
        isOutcome(outcome)
          ? outcome
          : failed(new Error(messages.interceptorResolved(outcome)), delivery),
      (error: unknown) => failed(error, delivery),
    );
}
