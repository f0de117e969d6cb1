import type { Attributes, Histogram, Meter, ObservableResult } from '@opentelemetry/api';
import type { Clock } from '../clock';
import { headerOf } from '../delivery/headers';
import type { Settlement } from '../model/settlement';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import {
  type DeliveryInFlight,
  PAUSE_CAUSES,
  type SubscriptionState,
  type SubscriptionStateChange,
  type SubscriptionStatus,
} from '../model/subscription-status';
import { subscriptionAttributes } from './attributes';
import { INSTRUMENTS, type Instrument } from './instruments';
import { Counts, SettlementCounts } from './settlement-counts';

/** The subscriptions that are measured. */
export interface Measured {
  list(): readonly SubscriptionStatus[];
  inFlight(): readonly DeliveryInFlight[];
}

/** The boundaries that OpenTelemetry's conventions give for the duration. */
const BOUNDARIES = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** The header that RabbitMQ's message interceptor for timestamps sets, in ms since the epoch. */
const TIMESTAMP_HEADER = 'timestamp_in_ms';
const QUEUE_TIME_BOUNDARIES = [
  0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400,
];

const STATES: Readonly<Record<Exclude<SubscriptionState, 'paused'>, true>> = {
  starting: true,
  consuming: true,
  reconnecting: true,
  refused: true,
  disabled: true,
  stopped: true,
};

type Callback = (result: ObservableResult) => void;

/**
 * The metrics of the application's subscriptions. They stay readable when the application has closed: what is
 * exported last has all counts.
 */
export class SettleMetrics {
  readonly #duration: Histogram;
  readonly #queueTime: Histogram;
  readonly #counts = new Map<SubscriptionMetadata, SettlementCounts>();
  readonly #reconnects = new Counts();

  constructor(
    private readonly meter: Meter,
    private readonly subscriptions: Measured,
    private readonly clock: Pick<Clock, 'now'>,
  ) {
    this.#duration = this.#histogram(INSTRUMENTS.duration, BOUNDARIES);
    this.#queueTime = this.#histogram(INSTRUMENTS.queueTime, QUEUE_TIME_BOUNDARIES);
    this.#counter(INSTRUMENTS.settlements, (result) => {
      for (const counts of this.#counts.values()) counts.settlements.observe(result);
    });
    this.#counter(INSTRUMENTS.consumed, (result) => {
      for (const counts of this.#counts.values()) counts.consumed.observe(result);
    });
    this.#counter(INSTRUMENTS.attempts, (result) => {
      for (const counts of this.#counts.values()) counts.attempts.observe(result);
    });
    this.#counter(INSTRUMENTS.reconnects, (result) => this.#reconnects.observe(result));
    this.#counter(INSTRUMENTS.stuck, this.#perSubscription('stuck'));
    this.#gauge(INSTRUMENTS.inFlight, this.#perSubscription('inFlight'));
    this.#gauge(INSTRUMENTS.waiting, this.#perSubscription('waiting'));
    this.#gauge(INSTRUMENTS.busiestKey, (result) => {
      for (const { subscription, busiestKey } of subscriptions.list()) {
        if (subscription.order === undefined) continue;
        result.observe(busiestKey?.deliveries ?? 0, subscriptionAttributes(subscription));
      }
    });
    this.#gauge(INSTRUMENTS.oldestAge, (result) => this.#observeAges(result));
    this.#gauge(INSTRUMENTS.state, (result) => {
      for (const status of subscriptions.list()) observeState(status, result);
    });
  }

  settled(settlement: Settlement): void {
    const { subscription, durationMs } = settlement;
    let counts = this.#counts.get(subscription);
    if (counts === undefined) {
      counts = new SettlementCounts(settlement);
      this.#counts.set(subscription, counts);
    }
    const attributes = counts.add(settlement);
    if (attributes === undefined) return;
    this.#duration.record(durationMs / 1_000, attributes);
    const queuedMs = this.#queuedFor(settlement);
    if (queuedMs !== undefined) this.#queueTime.record(queuedMs / 1_000, counts.common);
  }

  // Only of a first delivery: later ones have the timestamp of the first, too.
  #queuedFor({ delivery, attempt, durationMs }: Settlement): number | undefined {
    const { headers, redelivered } = delivery;
    const arrivedAt = headerOf(headers, TIMESTAMP_HEADER);
    if (typeof arrivedAt !== 'number' || attempt > 1 || redelivered) return undefined;
    return Math.max(0, this.clock.now() - durationMs - arrivedAt);
  }

  #histogram({ name, ...options }: Instrument, explicitBucketBoundaries: number[]): Histogram {
    return this.meter.createHistogram(name, { ...options, advice: { explicitBucketBoundaries } });
  }

  stateChanged({ subscription, to, error }: SubscriptionStateChange): void {
    // Without an error it is the end of a pause.
    if (to !== 'reconnecting' || error === undefined) return;
    this.#reconnects.add(keyOf(subscription), () => subscriptionAttributes(subscription));
  }

  #counter({ name, ...options }: Instrument, callback: Callback): void {
    this.meter.createObservableCounter(name, options).addCallback(callback);
  }

  #gauge({ name, ...options }: Instrument, callback: Callback): void {
    this.meter.createObservableGauge(name, options).addCallback(callback);
  }

  #perSubscription(field: 'inFlight' | 'waiting' | 'stuck'): Callback {
    return (result) => {
      for (const { subscription, [field]: value } of this.subscriptions.list()) {
        result.observe(value, subscriptionAttributes(subscription));
      }
    };
  }

  #observeAges(result: ObservableResult): void {
    const ages = new Map<string, number>();
    for (const { subscription, ageMs } of this.subscriptions.inFlight()) {
      const key = keyOf(subscription);
      ages.set(key, Math.max(ages.get(key) ?? 0, ageMs));
    }
    for (const { subscription } of this.subscriptions.list()) {
      const age = ages.get(keyOf(subscription)) ?? 0;
      result.observe(age / 1_000, subscriptionAttributes(subscription));
    }
  }
}

// A method can carry several subscriptions, and a queue several methods.
function keyOf({ handler, queue }: SubscriptionMetadata): string {
  return `${handler} ${queue}`;
}

function observeState(
  { subscription, state, cause }: SubscriptionStatus,
  result: ObservableResult,
) {
  const common: Attributes = subscriptionAttributes(subscription);
  const observe = (isSo: boolean, attributes: Attributes): void =>
    result.observe(isSo ? 1 : 0, { ...common, ...attributes });
  for (const one of Object.keys(STATES)) observe(state === one, { 'settle.state': one });
  for (const one of PAUSE_CAUSES) {
    observe(cause === one, { 'settle.state': 'paused', 'settle.pause_cause': one });
  }
}
