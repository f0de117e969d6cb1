import type { BrokerDelivery } from '../amqp/port';
import { attemptOf } from '../delivery/attempt';
import { DeliveryRecord } from '../delivery/delivery-record';
import { texts } from '../log/texts';
import { type Outcome, retry } from '../model/outcome';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { isThenable } from '../model/thenable';
import type { BatchHandling } from '../pipeline/batch';
import type { Handling } from '../pipeline/interceptor';
import { admit, warnOfPoison } from './admit';
import { BatchLine } from './batch-line';
import type { DeliveryLine } from './delivery-line';
import type { InFlight } from './in-flight';
import { InFlightDeliveries } from './in-flight-deliveries';
import type { ReceiverHost } from './receiver-host';
import { Settler } from './settler';
import { WaitingLine } from './waiting-line';

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
  /** Called when a handler of a delivery that has waited has ended. */
  #ended: (() => void) | undefined;

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
    this.#settler = new Settler(subscription, { ...host, failFast }, (inFlight) =>
      this.#finished(inFlight),
    );
    this.#line = this.#createLine();
  }

  /** Whether deliveries are handled; while false, what arrives is requeued. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Closing requeues what waits. A `noAck` message can't be requeued: it is handled, or lost. */
  set isOpen(isOpen: boolean) {
    this.#isOpen = isOpen;
    if (isOpen || this.subscription.noAck) return;
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
    const { subscription } = this;
    const { message, queue, countsRedeliveries } = brokerDelivery;
    const attempt = attemptOf(message, queue, countsRedeliveries);
    const delivery = new DeliveryRecord(subscription, message, queue, attempt);
    const startedAt = this.host.clock.monotonic();
    const inFlight: InFlight = {
      delivery,
      brokerDelivery,
      startedAt,
      settling: false,
      givenUp: false,
      previous: undefined,
      next: undefined,
    };
    if (this.#isTakenOut(inFlight)) return;
    if (this.#line !== undefined) return this.#line.add(inFlight);
    this.#began(inFlight);
    delivery.inContext(() => this.#handle(inFlight));
  }

  // Requeues a delivery that is not to be handled now, and ends one that has used up its attempts.
  #isTakenOut(inFlight: InFlight): boolean {
    const { subscription } = this;
    const { delivery, brokerDelivery } = inFlight;
    // A noAck message can't be requeued: it is handled now or lost.
    if (!this.#isOpen && !subscription.noAck) {
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

  /** Resolves once nothing waits or is in flight. */
  idle(): Promise<void> {
    if (this.#inFlight.size === 0 && this.waiting === 0) return Promise.resolve();
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

  #createLine(): DeliveryLine | undefined {
    const { subscription, handling, host } = this;
    const { batch, concurrency, rate } = subscription;
    if (typeof handling !== 'function') {
      if (batch === undefined) return undefined;
      return new BatchLine(batch, subscription, handling, {
        clock: host.clock,
        begin: (inFlight) => this.#beginWaited(inFlight),
        isStopping: () => host.isStopping(),
        settle: (...settled) => this.#settle(...settled),
        internalError: (inFlight, error) => this.#internalError(inFlight, error),
      });
    }
    if (concurrency === undefined && rate === undefined) return undefined;
    const line = new WaitingLine<InFlight>({ concurrency, rate }, host.clock, (inFlight) => {
      this.#beginWaited(inFlight);
      inFlight.delivery.inContext(() => this.#handle(inFlight));
    });
    this.#ended = () => line.ended();
    return line;
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
    this.#ended?.();
  }

  #settle(inFlight: InFlight, outcome: Outcome, isStopping?: boolean): void {
    try {
      inFlight.delivery.inContext(() => this.#settler.settle(inFlight, outcome, isStopping));
    } catch (error) {
      this.#internalError(inFlight, error);
    }
    this.#ended?.();
  }

  // A defect of this library: the delivery is requeued, the subscription goes on.
  #internalError(inFlight: InFlight, error: unknown): void {
    this.host.log.write('internal-error', texts.internalError(inFlight.delivery), error);
    try {
      if (!this.subscription.noAck) {
        inFlight.brokerDelivery.settle('requeueUnprocessed', () => undefined);
      }
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
    if (this.#inFlight.size > 0 || this.waiting > 0) return;
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }
}
