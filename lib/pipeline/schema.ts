import type { DeliveryRecord } from '../delivery/delivery-record';
import { InvalidPayloadError } from '../model/invalid-payload-error';
import type { FailureToOutcome } from './failure-policy';
import { HandlerFailure } from './handler-failure';
import type { Handling } from './interceptor';
import { payloadStage } from './payload-stage';
import type { Validator } from './validator';

/**
 * The stage between decoding and the call: the payload becomes what the schema gives. The bytes of the
 * message stay as they are, so a republished message carries what was published.
 */
export function schemaStage(
  validate: Validator,
  toOutcome: FailureToOutcome,
  inner: Handling<DeliveryRecord>,
): Handling<DeliveryRecord> {
  return payloadStage(({ payload }) => validate(payload), failureOf, toOutcome, inner);
}

// A schema that throws anything else is treated as a pipe that throws it.
function failureOf(error: unknown): HandlerFailure {
  return new HandlerFailure(error instanceof InvalidPayloadError ? 'decode' : 'schema', error);
}
