import type { Written } from '../amqp/port';
import type { Clock } from '../clock';

/** A delivery in the list of those that a channel has handed out and that are not settled. */
export interface Tagged {
  readonly tag: number;
  previous: Tagged | undefined;
  next: Tagged | undefined;
}

/** Writes one acknowledgement frame. May throw where the channel is gone. */
export type WriteAck = (tag: number, multiple: boolean) => void;

interface Pending {
  readonly tag: number;
  readonly written: Written;
}

/**
 * Joins the acknowledgements of one turn of the event loop into one `multiple` frame over the contiguous
 * settled prefix of a channel; the rest go singly. A channel belongs to one subscription, its tags
 * count up from 1, so what the frame covers beside this turn's own was settled before.
 */
export class Acknowledger {
  // In the order of tags, since deliveries come in that order: the first is the lowest unsettled one.
  #first: Tagged | undefined;
  #last: Tagged | undefined;
  #pending: Pending[] = [];

  constructor(
    private readonly write: WriteAck,
    private readonly clock: Clock,
  ) {}

  /** The delivery that has been unsettled for longest. */
  get oldest(): Tagged | undefined {
    return this.#first;
  }

  /** A delivery has come in and is to be settled. */
  arrived(delivery: Tagged): void {
    delivery.previous = this.#last;
    if (this.#last === undefined) this.#first = delivery;
    else this.#last.next = delivery;
    this.#last = delivery;
  }

  /** A frame of its own has settled the delivery. */
  settled(delivery: Tagged): void {
    const { previous, next } = delivery;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    delivery.previous = undefined;
    delivery.next = undefined;
  }

  /** The delivery is done; its acknowledgement is written at the end of this turn. */
  acknowledge(delivery: Tagged, written: Written): void {
    this.settled(delivery);
    this.#pending.push({ tag: delivery.tag, written });
    if (this.#pending.length === 1) this.clock.nextTurn(() => this.flush());
  }

  /** Writes what is pending now. */
  flush(): void {
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    const lowestUnsettled = this.#first?.tag ?? Number.POSITIVE_INFINITY;
    let upTo = 0;
    let joined = 0;
    for (const { tag } of pending) {
      if (tag >= lowestUnsettled) continue;
      joined += 1;
      if (tag > upTo) upTo = tag;
    }
    const prefix = joined > 0 && this.#written(upTo, joined > 1);
    for (const { tag, written } of pending) {
      written(tag < lowestUnsettled ? prefix : this.#written(tag, false));
    }
  }

  #written(tag: number, multiple: boolean): boolean {
    try {
      this.write(tag, multiple);
      return true;
    } catch {
      return false; // amqplib throws once the channel closes: the delivery is out again.
    }
  }
}
