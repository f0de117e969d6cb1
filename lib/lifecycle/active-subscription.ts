import type { BrokerConsumer, BrokerDelivery, ConsumerListener } from '../amqp/port';
import type { Clock } from '../clock';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import { ChannelLostError } from '../model/errors';
import type { Settlement } from '../model/settlement';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type {
  DeliveryInFlight,
  SubscriptionState,
  SubscriptionStateChange,
  SubscriptionStatus,
} from '../model/subscription-status';
import type { HandlerMethod } from '../nest/explorer';
import type { Receiver } from '../settlement/receiver';
import { SubscriptionKillSwitch } from './subscription-kill-switch';
import { SubscriptionPausing } from './subscription-pausing';
import { SubscriptionStateRecord } from './subscription-state';

/** What a subscription depends on. */
export interface ActiveSubscriptionDependencies {
  readonly log: SubscriptionLog;
  readonly clock: Clock;
  /** Called for each method of the consumer. */
  readonly stateChanged: (change: SubscriptionStateChange) => void;
}

type AnyReceiver = Pick<Receiver, keyof Receiver>;

/** A method that handles messages of a consumer. */
export interface ActiveMethod {
  readonly subscription: SubscriptionMetadata;
  readonly handler: Pick<HandlerMethod, 'type' | 'method'>;
  readonly receiver: AnyReceiver;
}

/** One consumer of the running application: the methods of its queue, its receiver, its state. */
export class ActiveSubscription implements ConsumerListener {
  readonly #state: SubscriptionStateRecord;
  readonly pausing: SubscriptionPausing;
  readonly killSwitch: SubscriptionKillSwitch | undefined;
  #lastError: Error | undefined;
  readonly #abandoned = new Map<SubscriptionMetadata, number>();
  readonly #stuck = new Map<SubscriptionMetadata, number>();
  readonly #clock: Clock;
  #hasConsumed = false;
  #consumer: BrokerConsumer | undefined;
  readonly #consumed: Promise<void>;
  #settleConsumed: { resolve: () => void; reject: (reason: Error) => void } | undefined;

  constructor(
    readonly subscription: SubscriptionMetadata,
    readonly methods: readonly ActiveMethod[],
    readonly receiver: AnyReceiver,
    { log, clock, stateChanged }: ActiveSubscriptionDependencies,
  ) {
    const state = new SubscriptionStateRecord(clock, (change) => {
      for (const one of methods) {
        stateChanged(Object.freeze({ subscription: one.subscription, ...change }));
      }
    });
    this.#state = state;
    this.#clock = clock;
    const pausing = new SubscriptionPausing({ subscription, receiver, state, log, clock });
    const { killSwitch: options } = subscription;
    this.pausing = pausing;
    this.killSwitch =
      options && new SubscriptionKillSwitch({ subscription, options, pausing, log, clock });
    this.#consumed = new Promise((resolve, reject) => {
      this.#settleConsumed = { resolve, reject };
    });
    // Prevents an unhandled rejection if nobody awaits it.
    this.#consumed.catch(() => undefined);
  }

  /** Resolves when the subscription has consumed once; rejects if it is refused before. */
  get consumed(): Promise<void> {
    return this.#consumed;
  }

  /** Whether it has consumed once, or is disabled. */
  get hasConsumed(): boolean {
    return this.#hasConsumed;
  }

  get consumer(): BrokerConsumer | undefined {
    return this.#consumer;
  }

  get state(): SubscriptionState {
    return this.#state.state;
  }

  get lastError(): Error | undefined {
    return this.#lastError;
  }

  statusOf({ subscription, receiver }: ActiveMethod): SubscriptionStatus {
    const { state, cause, since } = this.#state;
    const busiestKey = receiver.order?.busiestKey;
    return Object.freeze({
      subscription,
      state,
      ...(cause !== undefined && { cause }),
      inFlight: receiver.inFlight,
      waiting: receiver.waiting,
      ...(busiestKey !== undefined && { busiestKey }),
      stuck: this.#stuck.get(subscription) ?? 0,
      abandoned: this.#abandoned.get(subscription) ?? 0,
      since,
      ...(this.#lastError && { lastError: this.#lastError }),
    });
  }

  deliveriesInFlight(): DeliveryInFlight[] {
    const now = this.#clock.monotonic();
    return [...this.receiver.deliveries].map(({ delivery, startedAt, isStuck = false }) =>
      Object.freeze({
        subscription: delivery.subscription,
        queue: delivery.queue,
        messageId: delivery.messageId,
        attempt: delivery.attempt,
        ageMs: now - startedAt,
        isStuck,
      }),
    );
  }

  /** Counts a delivery that has been in flight longer than `stuckAfter`. */
  recordStuck(subscription: SubscriptionMetadata): void {
    this.#stuck.set(subscription, (this.#stuck.get(subscription) ?? 0) + 1);
  }

  attach(consumer: BrokerConsumer): void {
    this.#consumer = consumer;
    this.pausing.attach(consumer);
  }

  /** Marks a subscription whose connection registers no handlers. */
  disable(): void {
    this.#state.enter('disabled');
    this.#consumedOnce();
  }

  /** Counts abandoned settlements, and keeps the error of a failed republish. */
  recordResult({ subscription, status, republishError }: Settlement): void {
    if (status === 'abandoned') {
      this.#abandoned.set(subscription, (this.#abandoned.get(subscription) ?? 0) + 1);
    }
    if (status === 'republishFailed') this.#lastError = republishError;
  }

  /** Pauses until `resume`; resolves when nothing is in flight any more. */
  async pause(): Promise<void> {
    if (!this.#isOver) await this.pausing.pause('operator');
  }

  resume(): void {
    if (this.#isOver) return;
    this.killSwitch?.close();
    this.pausing.resume();
  }

  /** Cancels the consumer for good; resolves once the broker has confirmed that nothing more arrives. */
  stopConsuming(): Promise<void> {
    this.killSwitch?.stop();
    return this.pausing.stop();
  }

  stopped(reason: Error): void {
    if (this.state !== 'disabled') this.#state.enter('stopped');
    this.#settleConsumed?.reject(reason);
  }

  delivered(delivery: BrokerDelivery): void {
    // The first can arrive together with consume-ok.
    if (!this.#hasConsumed) this.#consumedOnce();
    this.receiver.delivered(delivery);
  }

  ageOf(delivery: BrokerDelivery): number {
    return this.receiver.ageOf(delivery);
  }

  finished(): Promise<void> {
    return this.receiver.idle();
  }

  channelLost(reason: Error): void {
    const text = texts.signalChannelLost(this.subscription.handler);
    this.receiver.channelLost(new ChannelLostError(text, { cause: reason }));
  }

  consuming(): void {
    this.#state.enter('consuming');
    this.#consumedOnce();
  }

  reconnecting(reason: Error): void {
    this.#lastError = reason;
    this.#state.enter('reconnecting', reason);
  }

  refused(reason: Error): void {
    this.#lastError = reason;
    this.#state.enter('refused', reason);
    this.#settleConsumed?.reject(reason);
  }

  get #isOver(): boolean {
    return this.state === 'disabled' || this.state === 'stopped';
  }

  #consumedOnce(): void {
    this.#hasConsumed = true;
    this.#settleConsumed?.resolve();
  }
}
