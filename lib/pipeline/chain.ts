import type { MessageDeserializer } from '@golevelup/nestjs-rabbitmq';
import type { Clock } from '../clock';
import { runAsCurrent } from '../delivery/current-delivery';
import type { DeliveryRecord } from '../delivery/delivery-record';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { DeliveryInterceptor } from '../model/interceptor';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { type CallHandler, callStage } from './call';
import type { IsPanic } from './classification';
import { decodeStage } from './decode';
import { catchAll, type FailureToOutcome, failureToOutcome } from './failure-policy';
import { HandlerFailure } from './handler-failure';
import { compose, type Handling } from './interceptor';
import { schemaStage } from './schema';
import { timeoutStage, unlessTimedOut } from './timeout';
import { validatorOf } from './validator';

/** What the chain of a subscription is made of. */
export interface ChainDependencies {
  readonly subscription: SubscriptionMetadata;
  readonly call: CallHandler;
  readonly clock: Clock;
  readonly log: SubscriptionLog;
  /** The application's interceptors, outermost first. */
  readonly interceptors: readonly DeliveryInterceptor[];
  readonly isPanic?: IsPanic | undefined;
  /** Whether `currentDelivery()` gives the delivery. */
  readonly hasContext?: boolean;
  /** The connection's deserializer; that of the subscription takes precedence. */
  readonly deserializer?: MessageDeserializer | undefined;
}

/**
 * The chain of a subscription, outermost first: the application's interceptors, timeout, decoding, the
 * schema, the call. Each stage turns its failures into outcomes, so interceptors see outcomes only. Built once at
 * startup. It never throws, and a promise that it returns always resolves.
 */
export function chainOf(parts: ChainDependencies): Handling<DeliveryRecord> {
  const stages = stagesOf(parts);
  if (!parts.hasContext) return stages;
  return (delivery) =>
    runAsCurrent(delivery, () => {
      delivery.captureContext(); // That of policies, callbacks and listeners.
      return stages(delivery);
    });
}

function stagesOf(parts: ChainDependencies): Handling<DeliveryRecord> {
  const { subscription, log, clock } = parts;
  const { timeout, allowNonJsonMessages, decompress, schema } = subscription;
  const policies = failureToOutcome(log, parts.isPanic, clock);
  // Their predicates and functions run in the context of the handler, which can be one of Nest's interceptors.
  const toOutcome: FailureToOutcome = (failed, delivery) =>
    delivery.inContext(() => policies(failed, delivery));
  let warned = false;
  const unexpected = (value: unknown, delivery: DeliveryRecord): void => {
    if (warned) return;
    warned = true;
    log.write('unexpected-result', texts.unexpectedResult(delivery, value));
  };
  const failed = timeout === undefined ? toOutcome : unlessTimedOut(toOutcome);
  const call = callStage(parts.call, unexpected, failed);
  const checked = schema === undefined ? call : schemaStage(validatorOf(schema), failed, call);
  const deserializer = subscription.deserializer ?? parts.deserializer;
  const decode = decodeStage({ deserializer, allowNonJsonMessages, decompress }, failed, checked);
  const keyed: Handling<DeliveryRecord> = (delivery) =>
    delivery.keyFailure === undefined
      ? decode(delivery)
      : failed(new HandlerFailure('body', delivery.keyFailure.error), delivery);
  const first = subscription.order === undefined ? decode : keyed;
  const stages = timeout === undefined ? first : timeoutStage(clock, timeout, toOutcome, first);
  if (parts.interceptors.length === 0) return stages;
  const captured: Handling<DeliveryRecord> = (delivery) => {
    delivery.captureContext();
    return stages(delivery);
  };
  return catchAll(compose(parts.interceptors, captured), toOutcome);
}
