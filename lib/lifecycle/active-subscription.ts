import type { BrokerConsumer, BrokerDelivery, ConsumerListener } from '../amqp/port';
import type { Clock } from '../clock';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import { ChannelLostError } from '../model/errors';
import type { Settlement } from '../model/settlement';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { SubscriptionState, SubscriptionStatus } from '../model/subscription-status';
import type { HandlerMethod } from '../nest/explorer';
import type { Receiver } from '../settlement/receiver';

type AnyReceiver = Pick<Receiver, keyof Receiver>;

/** A method that handles messages of a consumer. */
export interface ActiveMethod {
  readonly subscription: SubscriptionMetadata;
  readonly handler: Pick<HandlerMethod, 'type' | 'method'>;
  readonly receiver: AnyReceiver;
}

/** One consumer of the running application: the methods of its queue, its receiver, its state. */
export class ActiveSubscription implements ConsumerListener {
  #state: SubscriptionState = 'starting';
  #since: Date;
  #lastError: Error | undefined;
  readonly #abandoned = new Map<SubscriptionMetadata, number>();
  #hasConsumed = false;
  #paused = false;
  #stopping = false;
  #consumer: BrokerConsumer | undefined;
  readonly #consumed: Promise<void>;
  #settleConsumed: { resolve: () => void; reject: (reason: Error) => void } | undefined;

  constructor(
    readonly subscription: SubscriptionMetadata,
    readonly methods: readonly ActiveMethod[],
    readonly receiver: AnyReceiver,
    private readonly log: SubscriptionLog,
    private readonly clock: Clock,
  ) {
    this.#since = new Date(clock.now());
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
    return this.#state;
  }

  get lastError(): Error | undefined {
    return this.#lastError;
  }

  statusOf({ subscription, receiver }: ActiveMethod): SubscriptionStatus {
    return Object.freeze({
      subscription,
      state: this.#state,
      inFlight: receiver.inFlight,
      abandoned: this.#abandoned.get(subscription) ?? 0,
      since: this.#since,
      ...(this.#lastError && { lastError: this.#lastError }),
    });
  }

  attach(consumer: BrokerConsumer): void {
    this.#consumer = consumer;
  }

  /** Marks a subscription whose connection registers no handlers. */
  disable(): void {
    this.#enter('disabled');
    this.#consumedOnce();
  }

  /** Counts abandoned settlements, and keeps the error of a failed republish. */
  recordResult({ subscription, status, republishError }: Settlement): void {
    if (status === 'abandoned') {
      this.#abandoned.set(subscription, (this.#abandoned.get(subscription) ?? 0) + 1);
    }
    if (status === 'republishFailed') this.#lastError = republishError;
  }

  async pause(): Promise<void> {
    if (this.#state === 'disabled' || this.#state === 'stopped') return;
    if (!this.#paused) this.log.write('paused', texts.paused(this.subscription.queue));
    this.#paused = true;
    this.receiver.isOpen = false;
    this.#enter('paused');
    await this.#consumer?.pause();
    await this.receiver.idle();
  }

  resume(): void {
    if (!this.#paused || this.#stopping) return;
    this.log.write('resumed', texts.resumed(this.subscription.queue));
    this.#paused = false;
    this.receiver.isOpen = true;
    this.#enter('reconnecting');
    this.#consumer?.resume();
  }

  /** Cancels the consumer for good; resolves once the broker has confirmed that nothing more arrives. */
  async stopConsuming(): Promise<void> {
    this.#stopping = true;
    this.receiver.isOpen = false;
    await this.#consumer?.pause();
  }

  stopped(reason: Error): void {
    if (this.#state !== 'disabled') this.#enter('stopped');
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

  channelLost(reason: Error): void {
    const text = texts.signalChannelLost(this.subscription.handler);
    this.receiver.abort(new ChannelLostError(text, { cause: reason }));
  }

  consuming(): void {
    this.#enter('consuming');
    this.#consumedOnce();
  }

  reconnecting(reason: Error): void {
    this.#lastError = reason;
    this.#enter('reconnecting');
  }

  refused(reason: Error): void {
    this.#lastError = reason;
    this.#enter('refused');
    this.#settleConsumed?.reject(reason);
  }

  #consumedOnce(): void {
    this.#hasConsumed = true;
    this.#settleConsumed?.resolve();
  }

  #enter(state: SubscriptionState): void {
    if (this.#state === 'stopped') return;
    // A paused subscription stays paused, whatever its connection does meanwhile.
    const entered = this.#paused && state !== 'stopped' ? 'paused' : state;
    if (entered === this.#state) return;
    this.#state = entered;
    this.#since = new Date(this.clock.now());
  }
}
