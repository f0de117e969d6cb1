import type { Decision } from '../model/decision';
import { failureMarkOf, type Outcome } from '../model/outcome';
import type { Settlement } from '../model/settlement';
import type { InFlight } from './in-flight';

/** The settlement of a delivery, as listeners and callbacks see it. */
export function settlementOf(
  { delivery, batchSize, republished, unpublished }: InFlight,
  outcome: Outcome,
  decision: Decision,
  result: Pick<Settlement, 'status' | 'durationMs'>,
): Settlement {
  const failure = failureMarkOf(outcome);
  const settlement: { -readonly [Name in keyof Settlement]: Settlement[Name] } = {
    subscription: delivery.subscription,
    delivery,
    outcome,
    decision,
    attempt: delivery.attempt,
    durationMs: result.durationMs,
    status: result.status,
  };
  if (batchSize !== undefined) settlement.batchSize = batchSize;
  if (failure !== undefined) settlement.error = failure.error;
  if (republished !== undefined) settlement.republished = republished;
  if (unpublished !== undefined) settlement.republishError = unpublished.error;
  return Object.freeze(settlement);
}
