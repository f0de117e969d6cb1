import type { BrokerDelivery } from '../amqp/port';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { texts } from '../log/texts';
import { type Outcome, retry } from '../model/outcome';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { isThenable } from '../model/thenable';
import type { BatchHandling } from '../pipeline/batch';
import type { Handling } from '../pipeline/interceptor';
import { admit, warnOfPoison } from './admit';
import { arrivalOf } from './arrival';
import type { DeliveryLine } from './delivery-line';
import type { InFlight } from './in-flight';
import { InFlightDeliveries } from './in-flight-deliveries';
import { type LineHost, lineOf } from './line-of';
import { OrderLine } from './order-line';
import { OrderedDelivery, orderedHost } from './ordered-delivery';
import type { ReceiverHost } from './receiver-host';
import { Settler } from './settler';

/** The outcome of a delivery whose handler was never called. */
const UNPROCESSED = retry();

/**
 * Takes the deliveries of one subscription: each gets its attempt, is admitted or ended at the cap, goes
 * through the chain and is settled. With `concurrency`, `rate` or `batch` it waits before. Knows what waits
 * and what is in flight. Never throws.
 */
export class Receiver {
  readonly #inFlight: InFlightDeliveries;
  readonly #settler: Settler;
  #idle: (() => void)[] = [];
  #leftUnsettled = false;
  #isOpen = true;
  /** Deliveries whose handling has not begun; `undefined` if none ever waits. */
  readonly #line: DeliveryLine | undefined;
  /** Only if the deliveries are ordered. */
  readonly order: OrderLine | undefined;

  constructor(
    private readonly subscription: SubscriptionMetadata,
    private readonly handling: Handling<DeliveryRecord> | BatchHandling,
    private readonly host: ReceiverHost,
  ) {
    this.#inFlight = new InFlightDeliveries(() => host.clock.monotonic());
    const failFast: ReceiverHost['failFast'] = (inFlight, error) => {
      this.#leftUnsettled = true;
      host.failFast(inFlight, error);
    };
    const own = { ...host, failFast };
    const settlerHost = subscription.order === undefined ? own : orderedHost(own);
    this.#settler = new Settler(subscription, settlerHost, (inFlight) => this.#finished(inFlight));
    this.#line = lineOf(subscription, handling, this.#lineHost());
    if (this.#line instanceof OrderLine) this.order = this.#line;
  }

  /** Whether deliveries are handled; while false, what arrives is requeued. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Closing requeues what waits, unless it is ordered. A `noAck` message can't be requeued: it is handled, or lost. */
  set isOpen(isOpen: boolean) {
    this.#isOpen = isOpen;
    if (this.order !== undefined) this.order.isOpen = isOpen;
    if (isOpen || this.order !== undefined || this.subscription.noAck) return;
    for (const inFlight of this.#line?.clear() ?? []) {
      this.#began(inFlight);
      this.#settler.requeue(inFlight, UNPROCESSED);
    }
  }

  /** How many deliveries wait: their handling has not begun. */
  get waiting(): number {
    return this.#line?.size ?? 0;
  }

  /** How many deliveries are running or being settled. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Whether a delivery was left unsettled on purpose: its channel then closes last. */
  get leftUnsettled(): boolean {
    return this.#leftUnsettled;
  }

  /** What is running or being settled, in the order in which the handling began. */
  get deliveries(): Iterable<InFlight> {
    return this.#inFlight;
  }

  /** How long ago a delivery that waits or is in flight arrived, in ms; 0 for any other. */
  ageOf(delivery: BrokerDelivery): number {
    return this.#inFlight.ageOf(delivery, this.#line?.list ?? []);
  }

  delivered(brokerDelivery: BrokerDelivery): void {
    const { subscription, host } = this;
    const bound = this.order === undefined ? brokerDelivery : new OrderedDelivery(brokerDelivery);
    const inFlight = arrivalOf(subscription, bound, host.clock.monotonic());
    if (this.#isTakenOut(inFlight)) return;
    if (this.#line !== undefined) return this.#line.add(inFlight);
    this.#began(inFlight);
    inFlight.delivery.inContext(() => this.#handle(inFlight));
  }

  // Requeues a delivery that is not to be handled now, and ends one that has used up its attempts.
  #isTakenOut(inFlight: InFlight): boolean {
    const { subscription } = this;
    const { delivery, brokerDelivery } = inFlight;
    // A noAck message can't be requeued: it is handled now or lost.
    if (!this.#isOpen && !subscription.noAck && this.order === undefined) {
      this.#began(inFlight);
      this.#settler.requeue(inFlight, UNPROCESSED);
      return true;
    }
    const refusal = admit(delivery.attempt, brokerDelivery.acquired, subscription);
    warnOfPoison(delivery, brokerDelivery.acquired, this.host.log);
    if (refusal === undefined) return false;
    this.#began(inFlight);
    this.#settler.carryOut(inFlight, UNPROCESSED, refusal);
    return true;
  }

  /** Aborts the signals of what is in flight. */
  abort(reason: Error): void {
    for (const { delivery } of this.#inFlight) delivery.abort(reason);
  }

  /** The channel has closed: the signals abort, and what waits is forgotten, since it will be redelivered. */
  channelLost(reason: Error): void {
    this.abort(reason);
    // RabbitMQ has removed noAck messages already.
    if (!this.subscription.noAck) this.#line?.clear();
  }

  /** Resolves once nothing is in flight, and nothing waits but ordered deliveries. */
  idle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /**
   * Requeues what still waits or is in flight, settling or not; whatever happens to it later sends nothing.
   * Returns how many there were.
   */
  giveUp(): number {
    for (const inFlight of this.#line?.clear() ?? []) this.#began(inFlight);
    const left = [...this.#inFlight];
    for (const inFlight of left) {
      inFlight.givenUp = true;
      if (!inFlight.settling) this.#settler.requeue(inFlight, UNPROCESSED);
      else if (inFlight.requeue !== undefined) inFlight.requeue();
      else this.#finished(inFlight); // It is settled; its andAfter work has not ended.
    }
    return left.length;
  }

  #lineHost(): LineHost {
    const { host } = this;
    return {
      ...host,
      begin: (inFlight) => this.#beginWaited(inFlight),
      handle: (inFlight) => inFlight.delivery.inContext(() => this.#handle(inFlight)),
      settle: (...settled) => this.#settle(...settled),
      internalError: (inFlight, error) => this.#internalError(inFlight, error),
      remove: (inFlight, outcome) => {
        if (this.#inFlight.delete(inFlight)) host.observer?.ended(inFlight.delivery, outcome);
        this.#becameIdle();
      },
      release: (inFlight, outcome) => this.#settler.requeue(inFlight, outcome),
      carryOut: (...decided) => this.#settler.carryOut(...decided),
    };
  }

  #beginWaited(inFlight: InFlight): void {
    this.#began(inFlight);
    inFlight.arrivedAt = inFlight.startedAt;
    inFlight.startedAt = this.host.clock.monotonic();
  }

  #handle(inFlight: InFlight): void {
    const { handling } = this;
    if (typeof handling !== 'function') return;
    try {
      const outcome = handling(inFlight.delivery);
      if (!isThenable(outcome)) return this.#settle(inFlight, outcome);
      outcome.then(
        (later) => this.#settle(inFlight, later),
        (error: unknown) => this.#chainFailed(inFlight, error),
      );
    } catch (error) {
      this.#chainFailed(inFlight, error);
    }
  }

  #chainFailed(inFlight: InFlight, error: unknown): void {
    this.#internalError(inFlight, error);
    this.#line?.ended?.();
  }

  #settle(inFlight: InFlight, outcome: Outcome, isStopping?: boolean): void {
    try {
      inFlight.delivery.inContext(() => {
        if (this.order?.keeps(inFlight, outcome)) return;
        this.#settler.settle(inFlight, outcome, isStopping);
      });
    } catch (error) {
      this.#internalError(inFlight, error);
    }
    this.#line?.ended?.();
  }

  // A defect of this library: the delivery is requeued, the subscription goes on.
  #internalError(inFlight: InFlight, error: unknown): void {
    const { delivery, brokerDelivery } = inFlight;
    this.host.log.write('internal-error', texts.internalError(delivery), error, delivery);
    try {
      if (!this.subscription.noAck) brokerDelivery.settle('requeueUnprocessed', () => undefined);
    } catch {
      // It was settled before the error.
    }
    this.#finished(inFlight);
  }

  #began(inFlight: InFlight): void {
    this.#inFlight.add(inFlight);
    this.host.observer?.began(inFlight.delivery);
  }

  #finished(inFlight: InFlight): void {
    if (this.#inFlight.delete(inFlight)) this.host.observer?.ended(inFlight.delivery);
    this.host.finished?.();
    this.order?.finished(inFlight);
    this.#becameIdle();
  }

  // What waits in order is left to its channel.
  get #isIdle(): boolean {
    return this.#inFlight.size === 0 && (this.order !== undefined || this.waiting === 0);
  }

  #becameIdle(): void {
    if (!this.#isIdle) return;
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }
}
