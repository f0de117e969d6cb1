import type { InFlight } from './in-flight';

/** The deliveries of a receiver whose handling has not begun. */
export interface DeliveryLine {
  /** How many wait. */
  readonly size: number;
  /** What waits. */
  readonly list: Iterable<InFlight>;
  add(inFlight: InFlight): void;
  /** A handler has ended; absent if the line knows by itself. */
  ended?(): void;
  /** Removes what waits, and returns it in the order of arrival. */
  clear(): readonly InFlight[];
}
