import type { DeliveryRecord } from '../delivery/delivery-record';
import type { Enhancers } from './enhancers';
import { type Invocation, isEmptyResult, resultOf, toFailure } from './invocation';

/** Runs the pipes on the payload of a delivery. */
export type PipePayload = (delivery: DeliveryRecord) => Promise<unknown>;

/** Calls a handler through Nest's enhancers: resolves with its result, or rejects with its failure. */
export async function invoke(
  instance: object,
  enhancers: Enhancers,
  call: (invocation: Invocation) => unknown,
): Promise<unknown> {
  const invocation: Invocation = { instance, entered: false };
  let value: unknown;
  try {
    value = await call(invocation);
  } catch (error) {
    if (isEmptyResult(invocation, error)) return invocation.returned?.value;
    throw toFailure(invocation, error, enhancers);
  }
  return resultOf(invocation, value, enhancers);
}

/** The payloads of a batch. */
export function payloadsOf(batch: readonly DeliveryRecord[]): unknown[] {
  return batch.map(({ payload }) => payload);
}

/** Runs the pipes of a handler on one payload. @param fill resolves the arguments of the handler. */
export function pipeOf(
  fill: (...args: readonly unknown[]) => unknown,
  enhancers: Enhancers,
): PipePayload {
  return async (delivery) => {
    const { payload, message, headers } = delivery;
    try {
      const [piped] = (await fill(payload, message, headers, delivery)) as unknown[];
      return piped;
    } catch (error) {
      throw toFailure({ instance: {}, entered: false, refused: { error } }, error, enhancers);
    }
  };
}
