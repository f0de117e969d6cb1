import { type ConsumedSubscription, methodsOf } from '../amqp/consumed-subscription';
import { needsConsumer } from '../amqp/held-deliveries';
import { countsIn } from '../amqp/redelivery-counting';
import { returnUncounted } from '../amqp/uncounted-return';
import type { Clock } from '../clock';
import { attemptOf } from '../delivery/attempt';
import { mayHaveLostItsConsumer } from '../delivery/lost-consumer';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { ChannelDelivery } from './channel-delivery';
import type { ConsumerChannel } from './consumer-channel';
import { PrefetchRamp } from './prefetch-ramp';
import type { RabbitMQDelivery } from './rabbitmq-delivery';

/** How long the retries and the lost channel of this process explain a count, in ms. */
const EXPLAINED_FOR = 60_000;

/**
 * - `full`: the consumer has its whole prefetch.
 * - `single`: it is cancelled; one suspect is handled, the others are returned.
 * - `rising`: it consumes with the prefetch of the ramp.
 */
type Phase = 'full' | 'single' | 'rising';

/** What a slow start is made of. */
export interface SlowStartDependencies {
  readonly subscription: ConsumedSubscription;
  readonly prefetch: number;
  readonly log: SubscriptionLog;
  readonly clock: Clock;
  /** Makes the consumer follow `limit`. */
  apply(): Promise<unknown>;
  /** Called with each delivery that is to be handled. */
  delivered(delivery: RabbitMQDelivery): void;
}

/**
 * Keeps messages that may have ended a consumer, the suspects, away from each other. When a consumer is lost, a
 * quorum queue counts all of its deliveries, so that one message that kills its process would cost its
 * neighbours an attempt each time. A suspect is therefore handled while no other is in flight here, and the
 * prefetch begins at 1 and is doubled with each success of a message that is no suspect.
 *
 * A retry is counted like a lost consumer. A count is explained, and its message no suspect, while this process
 * itself has requeued failed messages or lost its channel within the last minute; and one suspect alone
 * changes nothing but that the queue is asked whether it has delivered others.
 */
export class SlowStart {
  readonly #ramp: PrefetchRamp;
  readonly #isEnabled: boolean;
  /** How many attempts a message has at most. */
  readonly #attempts: number;
  #phase: Phase = 'full';
  #channel: ConsumerChannel | undefined;
  #queue = '';
  /** Suspects that are not handled yet. */
  #held: RabbitMQDelivery[] = [];
  /** Suspects that are handled or being settled. */
  readonly #inFlight = new Set<ChannelDelivery>();
  #isReturning = false;
  #explainedAt = Number.NEGATIVE_INFINITY;
  /** The last tags of all deliveries, and of those before the last return. */
  #lastTag = 0;
  #lastTagBefore = 0;

  constructor(private readonly dependencies: SlowStartDependencies) {
    const { subscription, prefetch } = dependencies;
    this.#ramp = new PrefetchRamp(prefetch);
    const attempts = methodsOf(subscription).map(({ retry }) => retry?.attempts);
    this.#attempts = Math.max(...attempts.map((most = Number.POSITIVE_INFINITY) => most));
    this.#isEnabled = prefetch > 1 && canStartSlowly(subscription);
  }

  opened(channel: ConsumerChannel, queue: string): void {
    this.#channel = channel;
    this.#queue = queue;
    this.#lastTag = 0;
    this.#lastTagBefore = 0;
    this.#observe();
  }

  /** The channel has closed; RabbitMQ redelivers what it held. */
  channelClosed(): void {
    this.#explainedAt = this.dependencies.clock.monotonic();
    this.#channel = undefined;
    this.#held = [];
    this.#inFlight.clear();
    this.#isReturning = false;
    if (this.#phase === 'full') return;
    this.#phase = 'rising';
    this.#ramp.restart();
  }

  /** The prefetch with which to consume now, where `prefetch` would be used otherwise. */
  limit(prefetch: number): number {
    if (this.#phase === 'full') return prefetch;
    return this.#phase === 'single' ? 0 : Math.min(prefetch, this.#ramp.prefetch);
  }

  /** Whether a new consumer may begin; if not, the change is applied again when deliveries are settled. */
  allows(prefetch: number): boolean {
    if (this.#phase === 'full') return true;
    return this.#ramp.allows(prefetch, this.#channel?.unsettled ?? 0);
  }

  /** Passes a delivery on, now, later or never. */
  delivered(delivery: RabbitMQDelivery): void {
    this.#lastTag = delivery.tag;
    if (!this.#isEnabled || !this.#isSuspect(delivery)) {
      return this.dependencies.delivered(delivery);
    }
    const isSingle = this.#held.length === 0 && this.#inFlight.size === 0;
    if (this.#phase === 'rising' && isSingle && this.#ramp.prefetch === 1) {
      return this.#begin(delivery);
    }
    this.#held.push(delivery);
    if (this.#phase === 'full' && isSingle) void this.#lookForOthers();
    else if (this.#phase !== 'single') void this.#separate();
  }

  /** Requeues what is held, since the consumer stops. */
  requeue(): void {
    const held = this.#held;
    this.#held = [];
    for (const delivery of held) delivery.settle('requeueUnprocessed', () => undefined);
  }

  #isSuspect(delivery: RabbitMQDelivery): boolean {
    const { message, queue } = delivery;
    const counts = countsIn(delivery);
    if (!mayHaveLostItsConsumer(message, queue, counts)) return false;
    // Without an attempt left it is not handled.
    if (attemptOf(message, queue, counts) > this.#attempts) return false;
    if (this.#phase !== 'full') return true;
    const explainedAt = Math.max(
      this.#explainedAt,
      this.#channel?.lastRetryAt ?? Number.NEGATIVE_INFINITY,
    );
    return this.dependencies.clock.monotonic() - explainedAt >= EXPLAINED_FOR;
  }

  // The others of a lost consumer arrive before the reply.
  async #lookForOthers(): Promise<void> {
    const channel = this.#channel;
    const isOpen = await channel?.reachQueue(this.#queue);
    if (!isOpen || channel !== this.#channel || this.#phase !== 'full') return;
    const delivery = this.#held.shift();
    if (delivery !== undefined) this.#begin(delivery);
  }

  // Nothing arrives once the consumer is cancelled, so that exactly one suspect is left in flight.
  async #separate(): Promise<void> {
    const { subscription, log, clock, apply } = this.dependencies;
    const channel = this.#channel;
    if (this.#phase === 'full') log.write('slow-start', texts.slowStart(this.#queue));
    this.#phase = 'single';
    this.#isReturning = true;
    this.#ramp.restart();
    this.#observe();
    await apply();
    if (channel === undefined || channel !== this.#channel) return;
    this.#lastTagBefore = this.#lastTag;
    const single = this.#inFlight.size === 0 ? this.#held.shift() : undefined;
    const others = this.#held;
    this.#held = [];
    await Promise.all(others.map((one) => returnUncounted(one, subscription, log, clock)));
    await channel.reachQueue(this.#queue);
    if (channel !== this.#channel) return;
    this.#isReturning = false;
    if (single === undefined) this.#follow();
    else this.#begin(single);
  }

  #begin(delivery: RabbitMQDelivery): void {
    this.#inFlight.add(delivery);
    this.#observe();
    this.dependencies.delivered(delivery);
  }

  // Deliveries are only observed while it matters.
  #observe(): void {
    const channel = this.#channel;
    if (channel === undefined) return;
    const isNeeded = this.#phase !== 'full' || this.#inFlight.size > 0;
    channel.onSettled = isNeeded ? (delivery) => this.#settled(delivery) : undefined;
  }

  #settled(delivery: ChannelDelivery): void {
    const wasSuspect = this.#inFlight.delete(delivery);
    if (this.#phase === 'full') return this.#observe();
    const isNew = delivery.tag > this.#lastTagBefore;
    if (this.#phase === 'rising' && isNew && !wasSuspect) this.#ramp.succeeded();
    this.#follow();
  }

  #follow(): void {
    if (this.#isReturning || this.#inFlight.size > 0) return;
    this.#phase = 'rising';
    const { isAtTop, prefetch } = this.#ramp;
    if (isAtTop || this.#channel?.prefetch !== prefetch) void this.#raise();
  }

  async #raise(): Promise<void> {
    const { log, apply } = this.dependencies;
    await apply();
    const isFull = this.#ramp.isAtTop && this.#channel?.prefetch === this.#ramp.prefetch;
    if (this.#phase !== 'rising' || !isFull) return;
    this.#phase = 'full';
    this.#observe();
    log.write('slow-start-ended', texts.slowStartEnded(this.#queue, this.#ramp.configured));
  }
}

// Returned messages would lose their order; a queue that needs its consumer would go with it; and RabbitMQ
// counts its own delayed retries, which may return to any instance at any time.
function canStartSlowly(subscription: ConsumedSubscription): boolean {
  const { queueType, noAck, order, singleActiveConsumer } = subscription;
  if (queueType !== 'quorum' || noAck || order !== undefined || singleActiveConsumer) return false;
  const isDelayed = methodsOf(subscription).some(({ retry }) => retry?.by === 'broker');
  return !isDelayed && !needsConsumer(subscription);
}
