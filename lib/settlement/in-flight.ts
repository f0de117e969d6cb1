import type { BrokerDelivery } from '../amqp/port';
import type { DeliveryRecord } from '../delivery/delivery-record';
import type { Linked } from '../linked-list';
import type { RepublishError } from '../model/errors';
import type { RepublishedMessage } from '../model/settlement';

/** One delivery from its arrival until it is settled and its `andAfter` work has ended. */
export interface InFlight extends Linked<InFlight> {
  readonly delivery: DeliveryRecord;
  readonly brokerDelivery: BrokerDelivery;
  /** When its handling began, or until then when it arrived; on the clock's monotonic scale. */
  startedAt: number;
  /** When it arrived, if it has waited since; on the same scale. */
  arrivedAt?: number;
  /** The key of its lane, if it has one. */
  orderKey?: string;
  /** When its first attempt in its lane began, on the same scale. */
  firstBegunAt?: number;
  /** How many deliveries its batch has, if it was handled in one. */
  batchSize?: number;
  /** Whether a decision has been made; what the handler does afterwards settles nothing. */
  settling: boolean;
  /** Whether it goes back without an attempt, since its subscription stops or is paused. */
  isReleased?: boolean;
  /** Whether shutdown gave up on it and requeued it; nothing more is sent for it. */
  givenUp: boolean;
  /** Requeues it; set while its decision is not carried out yet. */
  requeue?: (() => void) | undefined;
  /** Whether it has been reported as stuck. */
  isStuck?: boolean;
  /** The message that its decision publishes. */
  republished?: RepublishedMessage;
  /** The message that could not be published, if there is one. */
  unpublished?: UnpublishedMessage;
}

/** A message that could not be published. */
export interface UnpublishedMessage {
  readonly queue: string;
  readonly tries: number;
  readonly error: RepublishError;
}
