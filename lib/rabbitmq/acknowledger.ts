import type { Written } from '../amqp/port';
import type { Clock } from '../clock';
import { type Linked, LinkedList } from '../linked-list';

/** A delivery in the list of the unsettled deliveries of its channel. */
export interface Tagged<D = unknown> extends Linked<D> {
  readonly tag: number;
}

/** Writes one acknowledgement frame. May throw if the channel has closed. */
export type WriteAck<D> = (delivery: D, multiple: boolean) => void;

interface Pending<D> {
  readonly delivery: D;
  readonly written: Written;
}

/**
 * Joins the acknowledgements of one turn of the event loop into one `multiple` frame over the contiguous
 * settled prefix of a channel; the rest go singly. A channel belongs to one subscription and its tags
 * count up from 1, so whatever else the frame covers was settled before.
 */
export class Acknowledger<D extends Tagged<D>> {
  // In the order of tags, since deliveries arrive in that order: the first is the lowest unsettled one.
  readonly #unsettled = new LinkedList<D>();
  #pending: Pending<D>[] = [];

  constructor(
    private readonly write: WriteAck<D>,
    private readonly clock: Clock,
  ) {}

  /** The delivery that has been unsettled for longest. */
  get oldest(): D | undefined {
    return this.#unsettled.first;
  }

  /** How many deliveries are not settled. */
  get unsettled(): number {
    return this.#unsettled.size;
  }

  /** A delivery has arrived and is to be settled. */
  arrived(delivery: D): void {
    this.#unsettled.add(delivery);
  }

  /** A frame of its own has settled the delivery. */
  settled(delivery: D): void {
    this.#unsettled.remove(delivery);
  }

  /** The delivery is done; its acknowledgement is written at the end of this turn. */
  acknowledge(delivery: D, written: Written): void {
    this.settled(delivery);
    this.#pending.push({ delivery, written });
    if (this.#pending.length === 1) this.clock.nextTurn(() => this.flush());
  }

  /** Writes the pending acknowledgements now. */
  flush(): void {
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    const lowestUnsettled = this.#unsettled.first?.tag ?? Number.POSITIVE_INFINITY;
    let upTo: D | undefined;
    let joined = 0;
    for (const { delivery } of pending) {
      if (delivery.tag >= lowestUnsettled) continue;
      joined += 1;
      if (upTo === undefined || delivery.tag > upTo.tag) upTo = delivery;
    }
    const prefix = upTo !== undefined && this.#written(upTo, joined > 1);
    for (const { delivery, written } of pending) {
      written(delivery.tag < lowestUnsettled ? prefix : this.#written(delivery, false));
    }
  }

  #written(delivery: D, multiple: boolean): boolean {
    try {
      this.write(delivery, multiple);
      return true;
    } catch {
      return false; // amqplib throws once the channel closes: the message will be redelivered.
    }
  }
}
