import type { BrokerDelivery } from '../amqp/port';
import { LinkedList } from '../linked-list';
import type { InFlight } from './in-flight';

/** The deliveries in flight of one subscription, in the order in which their handling began. */
export class InFlightDeliveries implements Iterable<InFlight> {
  readonly #all = new LinkedList<InFlight>();

  /** @param now on the clock's monotonic scale. */
  constructor(private readonly now: () => number) {}

  [Symbol.iterator](): IterableIterator<InFlight> {
    return this.#all[Symbol.iterator]();
  }

  get size(): number {
    return this.#all.size;
  }

  add(inFlight: InFlight): void {
    this.#all.add(inFlight);
  }

  delete(inFlight: InFlight): void {
    this.#all.remove(inFlight);
  }

  /** How long the oldest has been in flight, in ms; 0 if there is none. */
  get oldestAge(): number {
    const { first } = this.#all;
    return first === undefined ? 0 : this.now() - first.startedAt;
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
