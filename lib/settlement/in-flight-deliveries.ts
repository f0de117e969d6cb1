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

  /** Returns whether it was one of these. */
  delete(inFlight: InFlight): boolean {
    return this.#all.remove(inFlight);
  }

  /** How long ago one of these, or of others that wait, arrived, in ms; 0 if it is not among them. */
  ageOf(delivery: BrokerDelivery, waiting: Iterable<InFlight>): number {
    for (const all of [this.#all, waiting]) {
      for (const { brokerDelivery, startedAt, arrivedAt } of all) {
        if (brokerDelivery === delivery) return this.now() - (arrivedAt ?? startedAt);
      }
    }
    return 0;
  }
}
