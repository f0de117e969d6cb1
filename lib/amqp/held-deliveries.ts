import type { Clock, Timer } from '../clock';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { BrokerDelivery, Intake } from './port';

/** How often held deliveries are requeued, in ms: below the shortest consumer timeout that RabbitMQ supports. */
const REQUEUE_INTERVAL = 30_000;

/** Whether RabbitMQ deletes the queue, with its messages, once it has had no consumer for a while or at all. */
export function needsConsumer({ queue, queueOptions }: SubscriptionMetadata): boolean {
  const { autoDelete, expires, arguments: args } = queueOptions;
  const hasExpiry = expires !== undefined || args?.['x-expires'] !== undefined;
  return queue === undefined || autoDelete === true || hasExpiry;
}

/**
 * The deliveries of a consumer that is kept while its subscription is paused: unacknowledged, up to the
 * prefetch, and not handled before they are taken.
 */
export class HeldDeliveries {
  #held: BrokerDelivery[] = [];
  /** How many more deliveries are passed on. */
  #credit = Number.POSITIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(
    private readonly subscription: Pick<SubscriptionMetadata, 'noAck' | 'queueType' | 'order'>,
    private readonly clock: Clock,
    private readonly passOn: (delivery: BrokerDelivery) => void,
  ) {}

  /** Passes a delivery on, or holds it. */
  add(delivery: BrokerDelivery): void {
    this.#held.push(delivery);
    this.#passOn();
    if (this.#held.length > 0) this.#timer ??= this.#nextRequeue();
  }

  /** Passes on all deliveries from now on, none, or the next one; in the order of their arrival. */
  take(intake: Intake): void {
    this.#credit = intake === 'all' ? Number.POSITIVE_INFINITY : intake === 'one' ? 1 : 0;
    this.#passOn();
  }

  /** Requeues the deliveries. What RabbitMQ does not expect back is passed on. */
  requeue(): void {
    const { noAck } = this.subscription;
    for (const delivery of this.#takeAll()) {
      if (noAck) this.passOn(delivery);
      else delivery.settle('requeueUnprocessed', () => undefined);
    }
  }

  /** The channel has closed: RabbitMQ redelivers what it expects back. */
  channelClosed(): void {
    if (!this.subscription.noAck) this.#takeAll();
  }

  #passOn(): void {
    while (this.#credit > 0) {
      const delivery = this.#held.shift();
      if (delivery === undefined) break;
      this.#credit -= 1;
      this.passOn(delivery);
    }
    if (this.#held.length === 0) this.#cancelTimer();
  }

  #takeAll(): BrokerDelivery[] {
    const held = this.#held;
    this.#held = [];
    this.#cancelTimer();
    return held;
  }

  #cancelTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  // Held for too long, they would cost the channel, and an auto-delete queue goes with it. Requeued, they come
  // back, here or to another consumer. A quorum queue outlives its channel, and can count what is requeued; what is
  // ordered returns with its channel only.
  #nextRequeue(): Timer | undefined {
    const { noAck, queueType, order } = this.subscription;
    if (noAck || queueType === 'quorum' || order !== undefined) return undefined;
    return this.clock.after(REQUEUE_INTERVAL, () => this.requeue(), { background: true });
  }
}
