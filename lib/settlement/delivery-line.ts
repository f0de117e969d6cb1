import type { InFlight } from './in-flight';

/** The deliveries of a receiver whose handling has not begun. */
export interface DeliveryLine {
  /** How many wait. */
  readonly size: number;
  /** What waits. */
  readonly list: Iterable<InFlight>;
  add(inFlight: InFlight): void;
  /** Removes what waits, and returns it in the order of arrival. */
  clear(): readonly InFlight[];
}
