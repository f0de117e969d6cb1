import { type FailurePolicy, policyName, policyText } from '../model/policy';
import type { SubscriptionMetadata } from '../model/subscription-metadata';

/**
 * The policies of a subscription that retry although nothing limits retries: `onError: retryAfter`, once
 * each. What a policy function returns is not known beforehand.
 */
export function endlessPolicies(subscription: SubscriptionMetadata): readonly string[] {
  const { retry, noAck, onError, onPanic } = subscription;
  if (retry !== undefined || noAck) return [];
  const errorPolicies = [...onError.rules.map(({ policy }) => policy), onError.otherwise];
  return [...retrying('onError', errorPolicies), ...retrying('onPanic', [onPanic])];
}

function retrying(option: string, policies: readonly FailurePolicy[]): readonly string[] {
  const found = policies.filter((policy) => {
    const name = policyName(policy);
    return name === 'retry' || name === 'retryAfter';
  });
  return [...new Set(found.map((policy) => `${option}: ${policyText(policy)}`))];
}
