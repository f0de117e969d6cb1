import type { Clock } from '../clock';
import type { SubscriptionLog } from '../log/subscription-log';
import type { Outcome } from '../model/outcome';
import type { Settlement } from '../model/settlement';
import type { DeliveryObserver } from './delivery-observer';
import type { InFlight } from './in-flight';

/** The part of the application that a receiver depends on. */
export interface ReceiverHost {
  readonly clock: Clock;
  readonly log: SubscriptionLog;
  /** How many deliveries RabbitMQ leaves unacknowledged. */
  readonly prefetch: number;
  /** What follows each delivery while it is in flight. */
  readonly observer?: DeliveryObserver | undefined;
  /** Whether the application is shutting down: failures are then requeued instead of settled. */
  isStopping(): boolean;
  /** Whether the subscription is paused: nothing is to be delivered. */
  isPaused(): boolean;
  /** Pauses the subscription after a failed republish; resolves once nothing more is delivered. */
  pauseAfterFailure(error: Error): Promise<void>;
  /** Pauses the subscription for a while; resolves once nothing more is delivered. */
  pauseFor(ms: number, error: unknown): Promise<void>;
  /** An attempt has ended; returns whether the message is to go back without one: the kill switch has tripped. */
  releases?(inFlight: InFlight, outcome: Outcome): boolean;
  /** A delivery is no longer in flight. */
  finished?(): void;
  /** Pauses the subscription until `resume`, since an ordered message cannot be handled. */
  pauseStuck(): void;
  /** A message was republished. */
  republished(): void;
  /** Resolves once the consumer of a subscription that is paused or stops delivers nothing more. */
  consumerCancelled(): Promise<void>;
  /** A delivery is left unsettled on purpose: the application is to shut down. */
  failFast(inFlight: InFlight, error: unknown): void;
  /** Whether anything subscribes to settlements. */
  isObserved(): boolean;
  /** Called for each settlement if anything subscribes, and for each that is abandoned or not republished. */
  settled(settlement: Settlement): void;
}
