import type { MessageDeserializer } from '@golevelup/nestjs-rabbitmq';
import type { Clock } from '../clock';
import type { DeliveryRecord } from '../delivery/delivery';
import { messages } from '../outcome/messages';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import { type CallHandler, callStage } from './call';
import type { IsPanic } from './classification';
import { decodeStage } from './decode';
import { contained, failureStage, failureToOutcome } from './failure';
import { compose, type Handling, type Interceptor } from './interceptor';
import { timeoutStage } from './timeout';

/** What a subscription's chain is made of. */
export interface ChainParts {
  readonly subscription: Subscription;
  readonly call: CallHandler;
  readonly clock: Clock;
  readonly log: SubscriptionLog;
  /** The application's interceptors, outermost first. */
  readonly interceptors: readonly Interceptor[];
  readonly isPanic?: IsPanic | undefined;
  /** The connection's deserializer; the subscription's own goes before it. */
  readonly deserializer?: MessageDeserializer | undefined;
}

/**
 * The chain of a subscription, outermost first: the application's interceptors, failure to outcome,
 * timeout, decoding, the call. Made once at bootstrap; what it returns always resolves.
 */
export function chainOf(parts: ChainParts): Handling<DeliveryRecord> {
  const { subscription, log, clock } = parts;
  const toOutcome = failureToOutcome(log, parts.isPanic);
  const stages: Interceptor<DeliveryRecord>[] = [...parts.interceptors, failureStage(toOutcome)];
  if (subscription.timeout !== undefined) stages.push(timeoutStage(clock, subscription.timeout));
  stages.push(
    decodeStage(subscription.deserializer ?? parts.deserializer, subscription.allowNonJsonMessages),
  );
  let warned = false;
  const unexpected = (value: unknown): void => {
    if (warned) return;
    warned = true;
    log.warn('returned', messages.unexpectedResult(value));
  };
  return contained(compose(stages, callStage(parts.call, unexpected)), toOutcome);
}
