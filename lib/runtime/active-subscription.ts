import type { BrokerConsumer, BrokerDelivery, ConsumerListener } from '../broker/port';
import { ChannelLostError } from '../outcome/errors';
import { messages } from '../outcome/messages';
import type { Settlement } from '../settlement/settlement';
import type { Subscription } from '../subscription/subscription';
import type { HandlerClass } from '../subscription/token';
import type { Receiver } from './receiver';

/** What a subscription is doing. */
export type SubscriptionState =
  | 'starting'
  | 'consuming'
  | 'paused'
  | 'reconnecting'
  | 'refused'
  | 'skipped'
  | 'stopped';

/**
 * A subscription at one moment.
 * @publicApi
 */
export interface SubscriptionStatus {
  readonly subscription: Subscription;
  readonly state: SubscriptionState;
  /** Deliveries begun and not yet settled. */
  readonly inFlight: number;
  /** Settlements that were skipped, since their channel was gone. */
  readonly abandoned: number;
  /** Since when the state has been what it is. */
  readonly since: Date;
  /** The last reason why it was not consuming. */
  readonly lastError?: Error;
}

/** One subscription of the running application: its consumer, its receiver, its state. */
export class ActiveSubscription implements ConsumerListener {
  #state: SubscriptionState = 'starting';
  #since: Date;
  #lastError: Error | undefined;
  #abandoned = 0;
  #hasConsumed = false;
  #paused = false;
  #stopping = false;
  #consumer: BrokerConsumer | undefined;
  readonly #consumed: Promise<void>;
  #settleConsumed: { resolve: () => void; reject: (reason: Error) => void } | undefined;

  constructor(
    readonly subscription: Subscription,
    readonly type: HandlerClass,
    readonly method: string,
    readonly receiver: Receiver,
    private readonly now: () => number,
  ) {
    this.#since = new Date(now());
    this.#consumed = new Promise((resolve, reject) => {
      this.#settleConsumed = { resolve, reject };
    });
    // Whoever waits for it hears of it; that nobody waits is no fault.
    this.#consumed.catch(() => undefined);
  }

  /** Resolves when the subscription has consumed once; rejects where it is refused before. */
  get consumed(): Promise<void> {
    return this.#consumed;
  }

  /** Whether it has consumed once, or is not to consume here. */
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

  get status(): SubscriptionStatus {
    return Object.freeze({
      subscription: this.subscription,
      state: this.#state,
      inFlight: this.receiver.inFlight,
      abandoned: this.#abandoned,
      since: this.#since,
      ...(this.#lastError && { lastError: this.#lastError }),
    });
  }

  attach(consumer: BrokerConsumer): void {
    this.#consumer = consumer;
  }

  /** Marks a subscription that is not to consume here. */
  skip(): void {
    this.#enter('skipped');
    this.#consumedOnce();
  }

  /** Counts what was abandoned; called with every settlement. */
  noted({ settlement }: Settlement): void {
    if (settlement === 'abandoned') this.#abandoned += 1;
  }

  async pause(): Promise<void> {
    if (this.#state === 'skipped' || this.#state === 'stopped') return;
    this.#paused = true;
    this.receiver.taking = false;
    this.#enter('paused');
    await this.#consumer?.pause();
    await this.receiver.idle();
  }

  resume(): void {
    if (!this.#paused || this.#stopping) return;
    this.#paused = false;
    this.receiver.taking = true;
    this.#enter('reconnecting');
    this.#consumer?.resume();
  }

  /** Stops the intake for good; resolves once the broker has confirmed that nothing more comes. */
  async stopIntake(): Promise<void> {
    this.#stopping = true;
    this.receiver.taking = false;
    await this.#consumer?.pause();
  }

  stopped(reason: Error): void {
    if (this.#state !== 'skipped') this.#enter('stopped');
    this.#settleConsumed?.reject(reason);
  }

  delivered(delivery: BrokerDelivery): void {
    // The first may come in one piece with the answer that says that it consumes.
    if (!this.#hasConsumed) this.#consumedOnce();
    this.receiver.delivered(delivery);
  }

  ageOf(delivery: BrokerDelivery): number {
    return this.receiver.ageOf(delivery);
  }

  channelLost(reason: Error): void {
    const text = messages.signalChannelLost(this.subscription.handler);
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
    this.#since = new Date(this.now());
  }
}
