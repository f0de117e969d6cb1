import type { BrokerDelivery } from '../broker/port';
import type { DeliveryRecord } from '../delivery/delivery';
import type { SentCopy } from './settlement';

/** One delivery while it is in flight: from its arrival until it is settled and its work is done. */
export interface Run {
  readonly delivery: DeliveryRecord;
  readonly source: BrokerDelivery;
  /** On the clock's monotonic scale. */
  readonly startedAt: number;
  /** Whether it has been decided upon; what its handler says afterwards settles nothing. */
  decided: boolean;
  /** Whether the drain has given up on it and released it; nothing more is sent for it. */
  over: boolean;
  /** Gives it back after all; there while a decision is not carried out yet. */
  giveBack?: (() => void) | undefined;
  /** The copy that its decision asked for. */
  copy?: SentCopy;
}
