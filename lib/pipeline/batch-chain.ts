import type { DeliveryRecord } from '../delivery/delivery-record';
import { texts } from '../log/texts';
import { type BatchHandling, batchCall, type CallBatch, READY } from './batch';
import { interceptBatches } from './batch-interceptors';
import type { ChainDependencies } from './chain';
import { decodeStage } from './decode';
import { type FailureToOutcome, failureToOutcome } from './failure-policy';
import { HandlerFailure } from './handler-failure';
import { type ObserveBatch, observeBatches } from './observed-batch';
import { payloadStage } from './payload-stage';
import { schemaStage } from './schema';
import { timeoutStage, unlessTimedOut } from './timeout';
import { validatorOf } from './validator';

/** What the handling of batches is made of. */
export interface BatchChainDependencies extends Omit<ChainDependencies, 'call'> {
  readonly call: CallBatch;
  /** Runs the pipes on the payload of one delivery; `undefined` if there are none. */
  readonly pipe: ((delivery: DeliveryRecord) => Promise<unknown>) | undefined;
  /** Follows the calls of the method. */
  readonly observe?: ObserveBatch | undefined;
}

/**
 * The handling of batches: each delivery is decoded, checked and piped by itself, within `timeout`; the call
 * of a batch has the same limit of its own. The application's interceptors surround each delivery.
 */
export function batchChainOf(parts: BatchChainDependencies): BatchHandling {
  const { subscription, log, clock, call } = parts;
  const { timeout, allowNonJsonMessages, decompress, schema } = subscription;
  const policies = failureToOutcome(log, parts.isPanic, parts.clock);
  const toOutcome: FailureToOutcome = (failed, delivery) =>
    delivery.inContext(() => policies(failed, delivery));
  let warned = false;
  const unexpected = (value: unknown, delivery: DeliveryRecord): void => {
    if (!warned) log.write('unexpected-result', texts.unexpectedResult(delivery, value));
    warned = true;
  };
  const failed = timeout === undefined ? toOutcome : unlessTimedOut(toOutcome);
  const ready = (): typeof READY => READY;
  const piped =
    parts.pipe === undefined ? ready : payloadStage(parts.pipe, pipeFailure, failed, ready);
  const checked = schema === undefined ? piped : schemaStage(validatorOf(schema), failed, piped);
  const deserializer = subscription.deserializer ?? parts.deserializer;
  const decode = decodeStage({ deserializer, allowNonJsonMessages, decompress }, failed, checked);
  const called = batchCall({ call, clock, timeout, toOutcome, unexpected });
  const handling: BatchHandling = {
    prepare: timeout === undefined ? decode : timeoutStage(clock, timeout, toOutcome, decode),
    call: parts.observe === undefined ? called : observeBatches(called, parts.observe),
  };
  const { interceptors, hasContext = false } = parts;
  if (interceptors.length === 0) return handling;
  const wait = subscription.batch?.wait ?? 0;
  const dependencies = { interceptors, toOutcome, clock, wait, hasContext };
  return { ...handling, ...interceptBatches(handling.call, dependencies) };
}

function pipeFailure(error: unknown): HandlerFailure {
  return HandlerFailure.from(error, 'pipe');
}
