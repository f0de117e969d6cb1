import { type Clock, systemClock } from '../clock';
import type { DeliveryRecord } from '../delivery/delivery-record';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import { delayOfMatch } from '../model/error-matches';
import { Panic } from '../model/errors';
import type { Cause } from '../model/failure-mark';
import { isOutcome, type Outcome, retryAfter } from '../model/outcome';
import { type FixedPolicy, isFixedPolicy, outcomeOfPolicy } from '../model/policy';
import { causeOf, type IsPanic } from './classification';
import { type AppliedPolicy, policyFor } from './error-rules';
import { HandlerFailure } from './handler-failure';
import type { Chain } from './interceptor';
import { requireSync } from './require-sync';

/** Turns what failed into the outcome that a policy of the subscription gives. Never throws. */
export type FailureToOutcome = (failed: HandlerFailure, delivery: DeliveryRecord) => Outcome;

/** What applies if a policy is a function that fails. */
const DEFAULT_POLICIES: Readonly<Record<Cause, FixedPolicy>> = {
  error: 'drop',
  timeout: 'drop',
  'invalid-payload': 'drop',
  unmatched: 'drop',
  panic: 'failFast',
};

/** The subscription's policies, asked in the handler's place. */
export function failureToOutcome(
  log: SubscriptionLog,
  isPanic?: IsPanic,
  clock: Clock = systemClock,
): FailureToOutcome {
  let hasWarned = false;
  return (raised, delivery) => {
    if (raised.swallowedBy !== undefined && !hasWarned) {
      hasWarned = true;
      log.write(
        'swallowed-error',
        texts.swallowedError(delivery, raised.swallowedBy),
        undefined,
        delivery,
      );
    }
    const guarded: IsPanic | undefined =
      isPanic &&
      ((error) => {
        try {
          return requireSync(isPanic(error), texts.predicateReturnedPromise);
        } catch (thrown) {
          log.write('predicate-failed', texts.isPanicThrew(delivery), thrown, delivery);
          return undefined;
        }
      });
    // A payload that no interceptor could have seen yet is not to blame.
    const payload = raised.origin === 'interceptor' && !delivery.isDecoded ? {} : delivery.payload;
    const failed = withoutDisguise(raised, payload, guarded);
    const cause = causeOf(failed, payload, guarded);
    const policies = policiesOf(cause, failed.error, delivery, log);
    const policy = fixedPolicy(cause, policies, delivery, log, clock);
    const firstTime = delivery.attempt === 1 && !delivery.redelivered;
    if (failed.enhancer !== undefined && cause !== 'panic') {
      log.write(
        'enhancer-error',
        texts.enhancerRaised(delivery, failed.enhancer),
        undefined,
        delivery,
      );
    }
    return outcomeOfPolicy(policy, cause, failed.error, firstTime);
  };
}

// A bug stays one when a filter or an interceptor has thrown another error in its place.
function withoutDisguise(
  failed: HandlerFailure,
  payload: unknown,
  isPanic: IsPanic | undefined,
): HandlerFailure {
  const { earlier = [] } = failed.enhancer ?? {};
  return earlier.find((one) => causeOf(one, payload, isPanic) === 'panic') ?? failed;
}

// The policy of a failure, and what takes its place if it is a function that fails.
function policiesOf(
  cause: Cause,
  error: unknown,
  delivery: DeliveryRecord,
  log: SubscriptionLog,
): readonly AppliedPolicy[] {
  const { onError, onPanic, onInvalidPayload, onUnmatched = 'drop' } = delivery.subscription;
  if (cause === 'panic') return [{ policy: onPanic, error }];
  if (cause === 'invalid-payload') return [{ policy: onInvalidPayload, error }];
  if (cause === 'unmatched') return [{ policy: onUnmatched, error }];
  const matched = policyFor(onError, error, delivery, (thrown) =>
    log.write('predicate-failed', texts.ruleThrew(delivery), thrown, delivery),
  );
  const { otherwise } = onError;
  return matched.policy === otherwise ? [matched] : [matched, { policy: otherwise, error }];
}

function fixedPolicy(
  cause: Cause,
  policies: readonly AppliedPolicy[],
  delivery: DeliveryRecord,
  log: SubscriptionLog,
  clock: Clock,
): FixedPolicy {
  for (const { policy, error, match } of policies) {
    if (policy === 'retryAfter' && match !== undefined) {
      const delay = delayOfMatch(match, error, clock.now());
      return delay === undefined ? policy : retryAfter(delay);
    }
    if (typeof policy !== 'function') return policy;
    try {
      const decided = requireSync(policy(error, delivery), texts.policyReturnedPromise);
      if (isFixedPolicy(decided)) return decided;
      log.write('policy-failed', texts.policyReturned(delivery, decided), undefined, delivery);
    } catch (thrown) {
      log.write('policy-failed', texts.policyThrew(delivery), thrown, delivery);
    }
  }
  return DEFAULT_POLICIES[cause];
}

/**
 * The outermost end: what an interceptor of the application throws is handled as if the handler had thrown
 * it; to resolve with a value that is not an outcome is a bug. The promise never rejects.
 */
export function catchAll(
  chain: Chain<DeliveryRecord>,
  toOutcome: FailureToOutcome,
): Chain<DeliveryRecord> {
  const failed = (error: unknown, delivery: DeliveryRecord): Outcome =>
    toOutcome(HandlerFailure.from(error, 'interceptor'), delivery);
  return (delivery) =>
    Promise.resolve(chain(delivery)).then(
      (outcome: unknown) =>
        isOutcome(outcome)
          ? outcome
          : failed(new Panic(texts.interceptorResolved(outcome)), delivery),
      (error: unknown) => failed(error, delivery),
    );
}
