import type { MessageDeserializer } from '@golevelup/nestjs-rabbitmq';
import type { Clock } from '../clock';
import type { DeliveryRecord } from '../delivery/delivery';
import { messages } from '../outcome/messages';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import { type CallHandler, callStage } from './call';
import type { IsPanic } from './classification';
import { decodeStage } from './decode';
import { contained, failureToOutcome } from './failure';
import { compose, type Handling, type Interceptor } from './interceptor';
import { timeoutStage, unlessTimedOut } from './timeout';

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
 * The chain of a subscription, outermost first: the application's interceptors, timeout, decoding, the
 * call. Each stage turns what fails in it into an outcome, so interceptors see outcomes only. Made once at
 * bootstrap. It never throws, and what it returns always resolves.
 */
export function chainOf(parts: ChainParts): Handling<DeliveryRecord> {
  const { subscription, log, clock } = parts;
  const { timeout, allowNonJsonMessages } = subscription;
  const toOutcome = failureToOutcome(log, parts.isPanic);
  let warned = false;
  const unexpected = (value: unknown): void => {
    if (warned) return;
    warned = true;
    log.warn('returned', messages.unexpectedResult(value));
  };
  const failed = timeout === undefined ? toOutcome : unlessTimedOut(toOutcome);
  const call = callStage(parts.call, unexpected, failed);
  const deserializer = subscription.deserializer ?? parts.deserializer;
  const decode = decodeStage({ deserializer, allowNonJsonMessages }, failed, call);
  const stages = timeout === undefined ? decode : timeoutStage(clock, timeout, toOutcome, decode);
  if (parts.interceptors.length === 0) return stages;
  return contained(compose(parts.interceptors, stages), toOutcome);
}
