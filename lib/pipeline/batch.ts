import { types } from 'node:util';
import { isObservable } from 'rxjs';
import type { Clock } from '../clock';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { texts } from '../log/texts';
import { HandlerTimeoutError, Panic } from '../model/errors';
import { ack, DONE, drop, isOutcome, type Outcome, retry } from '../model/outcome';
import { isNack, lastValueOf } from './call';
import type { FailureToOutcome } from './failure-policy';
import { HandlerFailure } from './handler-failure';
import type { Handling } from './interceptor';

/** Calls the method with the payloads of prepared deliveries; may return, resolve, reject or throw anything. */
export type CallBatch = (deliveries: readonly DeliveryRecord[]) => unknown;

/** The outcome of a delivery that has been prepared and can be handled; no other outcome is the same object. */
export const READY = ack();

/** How batches are handled. */
export interface BatchHandling {
  /** Decodes and checks one delivery: {@link READY}, or the outcome of what failed. Never rejects. */
  readonly prepare: Handling<DeliveryRecord>;
  /** The outcomes of a batch, one for each delivery in order. Never rejects. */
  call(deliveries: readonly DeliveryRecord[]): Promise<readonly Outcome[]>;
  /**
   * Runs the interceptors around a delivery that could not be prepared; absent if there are none. Resolves with
   * the outcome that counts, never rejects.
   */
  readonly refused?: (delivery: DeliveryRecord, outcome: Outcome) => Promise<Outcome>;
}

/** What the call of a batch is made of. */
export interface BatchCallDependencies {
  readonly call: CallBatch;
  readonly clock: Clock;
  /** In ms; `undefined`: no limit. */
  readonly timeout: number | undefined;
  readonly toOutcome: FailureToOutcome;
  /** Called with a result that is neither nothing, an outcome, nor a list of them. */
  readonly unexpected: (value: unknown, delivery: DeliveryRecord) => void;
}

/**
 * The call of a batch, and the outcomes of its result: nothing is `ack()` for each, one outcome is that of each,
 * a list has one for each. A list of another length, or of anything else, is a bug of the method. What is thrown
 * and a timeout are the failure of each.
 */
export function batchCall(parts: BatchCallDependencies): BatchHandling['call'] {
  const { call, clock, timeout, toOutcome } = parts;
  const run = async (batch: readonly DeliveryRecord[]): Promise<readonly Outcome[]> => {
    try {
      let value = await call(batch);
      if (isObservable(value)) value = await lastValueOf(value);
      return outcomesOf(value, batch, parts);
    } catch (error) {
      // Thrown outcomes count, too.
      if (isOutcome(error)) return batch.map(() => error);
      return batch.map((one) => toOutcome(HandlerFailure.from(error, 'body'), one));
    }
  };
  if (timeout === undefined) return run;
  return (batch) =>
    new Promise((resolve) => {
      let hasTimedOut = false;
      const timer = clock.after(timeout, () => {
        hasTimedOut = true;
        const handler = batch[0]?.subscription.handler ?? '';
        const error = new HandlerTimeoutError(texts.timedOut(handler, timeout), timeout);
        for (const delivery of batch) delivery.abort(error);
        resolve(batch.map((one) => toOutcome(new HandlerFailure('timeout', error), one)));
      });
      // What fails after the timeout is not asked about.
      const quiet: FailureToOutcome = (failed, one) =>
        hasTimedOut ? DONE : toOutcome(failed, one);
      void batchCall({ ...parts, timeout: undefined, toOutcome: quiet })(batch).then((outcomes) => {
        timer.cancel();
        resolve(outcomes);
      });
    });
}

function outcomesOf(
  value: unknown,
  batch: readonly DeliveryRecord[],
  { toOutcome, unexpected }: BatchCallDependencies,
): readonly Outcome[] {
  const one = outcomeOf(value);
  if (one !== undefined) return batch.map(() => one);
  const [first] = batch;
  if (!Array.isArray(value)) {
    if (first !== undefined) unexpected(value, first);
    return batch.map(() => DONE);
  }
  const outcomes = Array.from(value, outcomeOf);
  if (outcomes.length === batch.length && !outcomes.includes(undefined)) {
    return outcomes as Outcome[];
  }
  // Nobody else awaits promises in the list, and a rejected one would end the process before it can shut down.
  for (const one of value) if (types.isPromise(one)) one.catch(() => undefined);
  const error = new Panic(texts.batchResult(batch.length, value));
  return batch.map((delivery) => toOutcome(new HandlerFailure('body', error), delivery));
}

function outcomeOf(value: unknown): Outcome | undefined {
  if (value === undefined) return DONE;
  if (isOutcome(value)) return value;
  if (isNack(value)) return value.requeue ? retry() : drop();
  return undefined;
}
