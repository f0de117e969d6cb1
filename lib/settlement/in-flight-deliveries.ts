import type { BrokerDelivery } from '../amqp/port';
import type { InFlight } from './in-flight';

/** The deliveries in flight of one subscription, in the order in which their handling began. */
export class InFlightDeliveries implements Iterable<InFlight> {
  readonly #all = new Set<InFlight>();

  /** @param now on the clock's monotonic scale. */
  constructor(private readonly now: () => number) {}

  [Symbol.iterator](): IterableIterator<InFlight> {
    return this.#all.values();
  }

  get size(): number {
    return this.#all.size;
  }

  add(inFlight: InFlight): void {
    this.#all.add(inFlight);
  }

  delete(inFlight: InFlight): void {
    this.#all.delete(inFlight);
  }

  /** How long the oldest has been in flight, in ms; 0 if there is none. */
  get oldestAge(): number {
    for (const { startedAt } of this.#all) return this.now() - startedAt;
    return 0;
  }

  /** How long the oldest that is younger than `ms` has been in flight, in ms; 0 if there is none. */
  oldestAgeBelow(ms: number): number {
    const now = this.now();
    for (const { startedAt } of this.#all) if (now - startedAt < ms) return now - startedAt;
    return 0;
  }

  /** How long ago one of these, or of others that wait, arrived, in ms; 0 if it is none of them. */
  ageOf(delivery: BrokerDelivery, waiting: Iterable<InFlight>): number {
    for (const all of [this.#all, waiting]) {
      for (const { brokerDelivery, startedAt, arrivedAt } of all) {
        if (brokerDelivery === delivery) return this.now() - (arrivedAt ?? startedAt);
      }
    }
    return 0;
  }
}
