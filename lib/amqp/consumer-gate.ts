import type { Clock } from '../clock';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { HeldDeliveries, needsConsumer } from './held-deliveries';
import type { BrokerDelivery, Intake } from './port';

/** What a gate is made of. */
export interface ConsumerGateDependencies {
  readonly subscription: SubscriptionMetadata;
  readonly prefetch: number;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  /** Makes the consumer follow `prefetch`. */
  apply(): Promise<unknown>;
  /** Called with each delivery that is to be handled. */
  delivered(delivery: BrokerDelivery): void;
}

/**
 * How many deliveries a consumer takes. If it takes none, the consumer is cancelled; if it takes one at a
 * time, it consumes with a prefetch of 1. A queue that would be deleted without its consumer keeps it, and the
 * deliveries that are too many are held. An ordered consumer holds them as well when it takes one at a time: with
 * a smaller prefetch, a quorum queue would put what returns behind other messages that it has returned before.
 */
export class ConsumerGate {
  readonly #held: HeldDeliveries;
  readonly #needsConsumer: boolean;
  readonly #isOrdered: boolean;
  #intake: Intake = 'all';
  #stopped = false;

  constructor(private readonly dependencies: ConsumerGateDependencies) {
    const { subscription, clock } = dependencies;
    this.#needsConsumer = needsConsumer(subscription);
    this.#isOrdered = subscription.order !== undefined;
    this.#held = new HeldDeliveries(subscription, clock, (one) => dependencies.delivered(one));
  }

  /** The prefetch with which to consume; 0: the consumer is to be cancelled. */
  get prefetch(): number {
    const { prefetch, subscription } = this.dependencies;
    if (this.#isClosing) return 0;
    // What a noAck consumer holds would be lost at the end.
    if (this.#stopped) return this.#needsConsumer && !subscription.noAck ? prefetch : 0;
    if (this.#needsConsumer || this.#intake === 'all') return prefetch;
    if (this.#intake === 'none') return 0;
    return this.#isOrdered ? prefetch : 1;
  }

  get #isClosing(): boolean {
    return this.dependencies.closing.aborted;
  }

  /** Handles a delivery, or holds it until it is to be handled. */
  delivered(delivery: BrokerDelivery): void {
    if ((this.#needsConsumer || this.#isOrdered) && this.prefetch > 0) this.#held.add(delivery);
    else this.dependencies.delivered(delivery);
  }

  /** The channel of the held deliveries has closed. */
  channelClosed(): void {
    this.#held.channelClosed();
    if (this.#intake === 'one') this.#held.take('one');
  }

  /** Changes how many deliveries are taken; `'one'` again: one more. Resolves once the consumer follows. */
  async take(intake: Intake): Promise<void> {
    if (this.#stopped) return;
    this.#intake = intake;
    this.#held.take(intake);
    await this.dependencies.apply();
  }

  /** Takes nothing more, for good. Resolves once the consumer follows. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#held.take('none');
    await this.dependencies.apply();
    if (this.prefetch === 0) this.#held.requeue();
  }

  /** Cancels the consumer in any case, and requeues what is held. */
  async close(): Promise<void> {
    await this.dependencies.apply();
    this.#held.requeue();
  }
}
