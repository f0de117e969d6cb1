import type { BrokerDelivery } from '../amqp/port';
import { attemptOf } from '../delivery/attempt';
import { DeliveryRecord } from '../delivery/delivery-record';
import { texts } from '../log/texts';
import { type Outcome, retry } from '../model/outcome';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { isThenable } from '../model/thenable';
import type { Handling } from '../pipeline/interceptor';
import { admit, isPoison } from './admit';
import type { InFlight } from './in-flight';
import type { ReceiverHost } from './receiver-host';
import { Settler } from './settler';

/** The outcome of a delivery whose handler was never called. */
const UNPROCESSED = retry();

/**
 * Takes the deliveries of one subscription: each gets its attempt, is admitted or ended at the cap, goes
 * through the chain and is settled. Knows what is in flight. Never throws.
 */
export class Receiver {
  // In the order of arrival: the first is the oldest.
  readonly #inFlight = new Set<InFlight>();
  readonly #settler: Settler;
  #idle: (() => void)[] = [];
  #leftUnsettled = false;

  /** Whether deliveries are handled; while false, what arrives is requeued. */
  isOpen = true;

  constructor(
    private readonly subscription: SubscriptionMetadata,
    private readonly chain: Handling<DeliveryRecord>,
    private readonly host: ReceiverHost,
  ) {
    const failFast: ReceiverHost['failFast'] = (inFlight, error) => {
      this.#leftUnsettled = true;
      host.failFast(inFlight, error);
    };
    this.#settler = new Settler(subscription, { ...host, failFast }, (inFlight) =>
      this.#finished(inFlight),
    );
  }

  /** How many deliveries are running or being settled. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Whether a delivery was left unsettled on purpose: its channel then closes last. */
  get leftUnsettled(): boolean {
    return this.#leftUnsettled;
  }

  /** How long the oldest delivery has been in flight, in ms; 0 if there is none. */
  get oldestAge(): number {
    for (const { startedAt } of this.#inFlight) return this.host.clock.monotonic() - startedAt;
    return 0;
  }

  /** How long the oldest delivery younger than `ms` has been in flight, in ms; 0 if there is none. */
  oldestAgeBelow(ms: number): number {
    const now = this.host.clock.monotonic();
    for (const { startedAt } of this.#inFlight) if (now - startedAt < ms) return now - startedAt;
    return 0;
  }

  /** How long a delivery has been in flight, in ms; 0 if it is not. */
  ageOf(delivery: BrokerDelivery): number {
    for (const { brokerDelivery, startedAt } of this.#inFlight) {
      if (brokerDelivery === delivery) return this.host.clock.monotonic() - startedAt;
    }
    return 0;
  }

  delivered(brokerDelivery: BrokerDelivery): void {
    const { subscription } = this;
    const { message, queue, countsRedeliveries, acquired } = brokerDelivery;
    const attempt = attemptOf(message, queue, countsRedeliveries);
    const delivery = new DeliveryRecord(subscription, message, queue, attempt);
    const startedAt = this.host.clock.monotonic();
    const inFlight: InFlight = {
      delivery,
      brokerDelivery,
      startedAt,
      settling: false,
      givenUp: false,
    };
    this.#inFlight.add(inFlight);
    // A noAck message can't be requeued: it is handled now or lost.
    if (!this.isOpen && !subscription.noAck) {
      this.#settler.requeue(inFlight, UNPROCESSED);
      return;
    }
    const refusal = admit(attempt, acquired, subscription);
    this.#warnOfPoison(delivery, acquired);
    if (refusal !== undefined) {
      this.#settler.carryOut(inFlight, UNPROCESSED, refusal);
      return;
    }
    delivery.inContext(() => this.#handle(inFlight));
  }

  /** Aborts the signals of what is in flight. */
  abort(reason: Error): void {
    for (const { delivery } of this.#inFlight) delivery.abort(reason);
  }

  /** Resolves once nothing is in flight. */
  idle(): Promise<void> {
    if (this.#inFlight.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /**
   * Requeues what is still in flight, settling or not; whatever happens to it later sends nothing.
   * Returns how many there were.
   */
  giveUp(): number {
    const left = [...this.#inFlight];
    for (const inFlight of left) {
      inFlight.givenUp = true;
      if (!inFlight.settling) this.#settler.requeue(inFlight, UNPROCESSED);
      else if (inFlight.requeue !== undefined) inFlight.requeue();
      else this.#finished(inFlight); // It is settled; its andAfter work has not ended.
    }
    return left.length;
  }

  #handle(inFlight: InFlight): void {
    try {
      const outcome = this.chain(inFlight.delivery);
      if (!isThenable(outcome)) return this.#settle(inFlight, outcome);
      outcome.then(
        (later) => this.#settle(inFlight, later),
        (error: unknown) => this.#internalError(inFlight, error),
      );
    } catch (error) {
      this.#internalError(inFlight, error);
    }
  }

  #warnOfPoison(delivery: DeliveryRecord, acquired: number): void {
    const { retry, deadLetter } = this.subscription;
    if (retry === undefined || delivery.attempt > retry.attempts) return;
    if (!isPoison(acquired, this.subscription)) return;
    const isEnded = deadLetter !== undefined;
    const text = texts.poisonMessage(delivery, acquired, retry.maxDeliveries, isEnded);
    this.host.log.write('poison-message', text);
  }

  #settle(inFlight: InFlight, outcome: Outcome): void {
    try {
      inFlight.delivery.inContext(() => this.#settler.settle(inFlight, outcome));
    } catch (error) {
      this.#internalError(inFlight, error);
    }
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

  #finished(inFlight: InFlight): void {
    this.#inFlight.delete(inFlight);
    if (this.#inFlight.size > 0) return;
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }
}
