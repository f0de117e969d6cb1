import type { BrokerConsumer, Intake } from '../amqp/port';
import type { Clock } from '../clock';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { PauseCause } from '../model/subscription-status';
import type { Receiver } from '../settlement/receiver';
import { Pauses } from './pauses';
import type { SubscriptionStateRecord } from './subscription-state';

/** The first pause after a failed republish, and the longest, in ms. */
const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 60_000;

/** The causes that `resume` ends. */
const RESUMED = ['operator', 'stuck', 'tripped', 'pauseFor'] as const;

/** What a subscription is paused by. */
export interface PausingDependencies {
  readonly subscription: SubscriptionMetadata;
  readonly receiver: Pick<Receiver, 'isOpen' | 'idle'>;
  readonly state: SubscriptionStateRecord;
  readonly log: SubscriptionLog;
  readonly clock: Clock;
}

/** Pauses one subscription and lets it consume again: consumer and receiver follow the causes that there are. */
export class SubscriptionPausing {
  readonly #pauses: Pauses;
  #consumer: BrokerConsumer | undefined;
  #intake: Intake = 'all';
  #failures = 0;
  #isProbing = false;
  #stopping = false;

  constructor(private readonly dependencies: PausingDependencies) {
    const { subscription, log, clock } = dependencies;
    this.#pauses = new Pauses(clock, (cause) => {
      if (cause === 'pauseFor') log.write('resumed', texts.resumed(subscription.queue));
      this.#changed();
    });
  }

  /** Whether nothing is to be delivered. */
  get isPaused(): boolean {
    return this.#intake === 'none';
  }

  attach(consumer: BrokerConsumer): void {
    this.#consumer = consumer;
  }

  /** Pauses until `resume`. Resolves when nothing is in flight any more. */
  async pause(
    cause: Exclude<PauseCause, 'republishFailed' | 'pauseFor' | 'tripped'>,
  ): Promise<void> {
    const { subscription, receiver, log } = this.dependencies;
    if (this.#pauses.begin(cause)) log.write('paused', texts.paused(subscription.queue));
    this.#changed();
    await this.followed();
    await receiver.idle();
  }

  /** Pauses for a while, because of an outcome. Resolves once nothing more is delivered. */
  async pauseFor(ms: number, error: unknown): Promise<void> {
    const { subscription, log } = this.dependencies;
    if (!this.#stopping) {
      const isPaused = this.#pauses.has('pauseFor');
      this.#pauses.begin('pauseFor', ms);
      if (!isPaused) log.write('paused', texts.pausedFor(subscription.queue, ms));
      this.#changed(error);
    }
    await this.followed();
  }

  /** The kill switch has tripped: nothing is handled until it probes. */
  trip(error: unknown): void {
    this.#isProbing = false;
    this.#pauses.begin('tripped');
    this.#changed(error);
  }

  /** The kill switch probes: one message at a time is handled, if nothing else pauses the subscription. */
  probe(): void {
    this.#isProbing = true;
    this.#changed();
  }

  /** The kill switch is closed. */
  untrip(): void {
    this.#isProbing = false;
    this.#pauses.end('tripped');
    this.#changed();
  }

  /** A delivery is no longer in flight: a probe takes the next one, unless it has enough results. */
  finished(): void {
    if (this.#intake === 'one') void this.followed();
  }

  /** Ends every pause but one after a failed republish, which ends by itself. */
  resume(): void {
    const { subscription, log } = this.dependencies;
    if (this.#stopping) return;
    const ended = RESUMED.map((cause) => this.#pauses.end(cause));
    this.#isProbing = false;
    if (!ended.includes(true)) return;
    log.write('resumed', texts.resumed(subscription.queue));
    this.#changed();
  }

  /**
   * Pauses after a failed republish: for 1 s, doubled each time, 1 min at most, until a message is
   * republished again. Resolves once nothing more is delivered.
   */
  async pauseAfterFailure(error: Error): Promise<void> {
    const { subscription, log } = this.dependencies;
    if (!this.#pauses.has('republishFailed') && !this.#stopping) {
      const ms = Math.min(FIRST_PAUSE * 2 ** this.#failures, LONGEST_PAUSE);
      this.#failures += 1;
      log.write('consumer-paused', texts.consumerPaused(ms, subscription.queue));
      this.#pauses.begin('republishFailed', ms);
      this.#changed(error);
    }
    await this.followed();
  }

  /** A message was republished: the next failure pauses for the shortest time again. */
  republished(): void {
    this.#failures = 0;
  }

  /** Resolves once the consumer does what it is to do. */
  async followed(): Promise<void> {
    await (this.#stopping ? this.#consumer?.stop() : this.#consumer?.take(this.#intake));
  }

  /** Takes nothing more, for good; resolves once the broker has confirmed it. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#pauses.stop();
    this.dependencies.receiver.isOpen = false;
    await this.followed();
  }

  #changed(error?: unknown): void {
    if (this.#stopping) return;
    const { subscription, state, receiver } = this.dependencies;
    const { cause } = this.#pauses;
    const isProbing = this.#isProbing && this.#pauses.isOnly('tripped');
    this.#intake = cause === undefined ? 'all' : isProbing ? 'one' : 'none';
    // What arrives before the consumer is cancelled after a failed republish is handled.
    const isHandled = cause === 'republishFailed' && subscription.order === undefined;
    receiver.isOpen = this.#intake !== 'none' || isHandled;
    state.pausedBy(cause, error);
    void this.followed();
  }
}
