import type { BrokerDelivery } from '../amqp/port';
import type { Match } from '../delivery/when';
import type { InFlight } from './in-flight';
import type { Receiver } from './receiver';

/** The receiver of one method of a queue, and the messages that it takes. */
export interface ReceivingMethod {
  readonly receiver: Receiver;
  /** `undefined`: every message. */
  readonly match: Match | undefined;
}

/**
 * The receivers of the methods that share a queue, as one: a delivery goes to the first method that takes
 * it, methods without a condition last, else to `unmatched`.
 */
export class SharedReceiver implements Pick<Receiver, keyof Receiver> {
  /** `order` and `when` exclude each other. */
  readonly order = undefined;
  readonly #methods: readonly ReceivingMethod[];
  readonly #all: readonly Receiver[];

  constructor(
    methods: readonly ReceivingMethod[],
    private readonly unmatched: Receiver,
  ) {
    this.#methods = [
      ...methods.filter(({ match }) => match !== undefined),
      ...methods.filter(({ match }) => match === undefined),
    ];
    this.#all = [...methods.map(({ receiver }) => receiver), unmatched];
  }

  get isOpen(): boolean {
    return this.unmatched.isOpen;
  }

  set isOpen(isOpen: boolean) {
    for (const receiver of this.#all) receiver.isOpen = isOpen;
  }

  get inFlight(): number {
    return this.#all.reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  get waiting(): number {
    return this.#all.reduce((sum, { waiting }) => sum + waiting, 0);
  }

  get leftUnsettled(): boolean {
    return this.#all.some((receiver) => receiver.leftUnsettled);
  }

  get deliveries(): Iterable<InFlight> {
    return this.#all.flatMap((receiver) => [...receiver.deliveries]);
  }

  ageOf(delivery: BrokerDelivery): number {
    return Math.max(...this.#all.map((receiver) => receiver.ageOf(delivery)));
  }

  delivered(delivery: BrokerDelivery): void {
    const { message, queue } = delivery;
    const method = this.#methods.find(({ match }) => match === undefined || match(message, queue));
    (method?.receiver ?? this.unmatched).delivered(delivery);
  }

  abort(reason: Error): void {
    for (const receiver of this.#all) receiver.abort(reason);
  }

  channelLost(reason: Error): void {
    for (const receiver of this.#all) receiver.channelLost(reason);
  }

  async idle(): Promise<void> {
    await Promise.all(this.#all.map((receiver) => receiver.idle()));
  }

  giveUp(): number {
    return this.#all.reduce((sum, receiver) => sum + receiver.giveUp(), 0);
  }
}
