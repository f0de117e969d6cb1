import type { Clock } from '../clock';
import type { SubscriptionLog } from '../log/subscription-log';
import type { Settlement } from '../model/settlement';
import type { InFlight } from './in-flight';

/** The part of the application that a receiver depends on. */
export interface ReceiverHost {
  readonly clock: Clock;
  readonly log: SubscriptionLog;
  /** Whether the application is shutting down: failures are then requeued instead of settled. */
  isStopping(): boolean;
  /** Pauses the consumer after a failed republish; resolves once it is cancelled. */
  pauseAfterFailure(): Promise<void>;
  /** Resolves once a consumer that is being cancelled is cancelled. */
  consumerCancelled(): Promise<void>;
  /** A delivery is left unsettled on purpose: the application is to shut down. */
  failFast(inFlight: InFlight, error: unknown): void;
  /** Whether anything subscribes to settlements. */
  isObserved(): boolean;
  /** Called for each settlement if anything subscribes, and for each that is abandoned or not republished. */
  settled(settlement: Settlement): void;
}
