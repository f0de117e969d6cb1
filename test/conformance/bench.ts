import assert from 'node:assert/strict';
import type { ConsumedSubscription } from '../../lib/amqp/consumed-subscription';
import type {
  Broker,
  BrokerConsumer,
  BrokerDelivery,
  RepublishTarget,
  SettleAction,
} from '../../lib/amqp/port';
import { systemClock } from '../../lib/clock';
import { attemptOf } from '../../lib/delivery/attempt';
import { DeliveryRecord } from '../../lib/delivery/delivery-record';
import type { OutgoingMessage } from '../../lib/delivery/republish';
import { SubscriptionLog } from '../../lib/log/subscription-log';
import type { SubscribeOptions } from '../../lib/model/options';
import type { SubscriptionMetadata } from '../../lib/model/subscription-metadata';
import { normalize } from '../../lib/subscribe/normalize';
import type { TestMessage } from '../../lib/testing/test-settlement';
import type { ConformanceAdapter } from './adapter';

const LIMIT = 15_000;
const STEP = 20;

let names = 0;

/** A name that no other scenario of any process has. */
export function freshName(base: string): string {
  names += 1;
  return `conformance.${base}.${process.pid}.${systemClock.now()}.${names}`;
}

/** Polls, letting time pass, until `check` returns a value. */
export async function poll<T>(
  adapter: ConformanceAdapter,
  what: string,
  check: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const limit = systemClock.monotonic() + LIMIT;
  for (;;) {
    const value = await check();
    if (value !== undefined) return value;
    assert.ok(systemClock.monotonic() < limit, `timed out waiting for ${what}`);
    await adapter.pass(STEP);
  }
}

/** One consumer under test, with its deliveries and events. */
export class ConsumerUnderTest {
  readonly subscription: ConsumedSubscription;
  readonly #consumer: BrokerConsumer;
  readonly #broker: Broker;
  readonly #deliveries: BrokerDelivery[] = [];
  /** The events of the listener, in order. */
  readonly events: string[] = [];
  /** The reasons for not consuming, in order. */
  readonly reasons: Error[] = [];
  delivered = 0;

  constructor(
    private readonly adapter: ConformanceAdapter,
    options: SubscribeOptions,
    prefetch = 10,
    /** Other methods that share the queue. */
    readonly others: readonly SubscriptionMetadata[] = [],
  ) {
    const own = normalize('Conformance.handle', options);
    this.subscription = others.length === 0 ? own : { ...own, methods: [own, ...others] };
    const silent = { log: () => {}, warn: () => {}, error: () => {} };
    this.#broker = adapter.connection.broker({
      republishTimeout: 10_000,
      logOf: () => new SubscriptionLog(silent, 'Conformance.handle', systemClock),
    });
    this.#consumer = this.#broker.consumer(this.subscription, prefetch, {
      delivered: (delivery) => {
        this.delivered += 1;
        this.#deliveries.push(delivery);
      },
      ageOf: () => 0,
      channelLost: () => this.events.push('channelLost'),
      finished: () => Promise.resolve(),
      consuming: () => this.events.push('consuming'),
      reconnecting: (reason) => this.#failed('reconnecting', reason),
      refused: (reason) => this.#failed('refused', reason),
    });
  }

  async start(): Promise<this> {
    await this.#consumer.start();
    return this;
  }

  get consumer(): BrokerConsumer {
    return this.#consumer;
  }

  /** The next delivery that has not been taken yet. */
  next(): Promise<BrokerDelivery> {
    return poll(this.adapter, 'a delivery', () => this.#deliveries.shift());
  }

  /** The next deliveries that have not been taken yet. */
  async nextOnes(count: number): Promise<BrokerDelivery[]> {
    const deliveries: BrokerDelivery[] = [];
    while (deliveries.length < count) deliveries.push(await this.next());
    return deliveries;
  }

  /** Waits until an event has occurred so many times. */
  async waitFor(event: string, times = 1): Promise<void> {
    const count = (): number => this.events.filter((one) => one === event).length;
    await poll(this.adapter, `${event}, ${times} times`, () => count() >= times || undefined);
  }

  /** The attempt of a delivery. */
  attempt({ message, queue, countsRedeliveries, acquired }: BrokerDelivery): number {
    return attemptOf(message, queue, {
      redeliveries: countsRedeliveries,
      acquired: acquired > 0,
    });
  }

  /** The record from which a delivery is republished. */
  record(delivery: BrokerDelivery): DeliveryRecord {
    const { message, queue } = delivery;
    return new DeliveryRecord(this.subscription, message, queue, this.attempt(delivery));
  }

  #failed(event: string, reason: Error): void {
    this.reasons.push(reason);
    this.events.push(event);
  }

  async close(): Promise<void> {
    await this.#consumer.close(5_000);
    await this.#broker.close(5_000);
  }
}

/** Settles, and resolves with whether the frame was written. */
export function settle(delivery: BrokerDelivery, action: SettleAction): Promise<boolean> {
  return new Promise((resolve) => delivery.settle(action, resolve));
}

/** Republishes, and resolves with the status of the result. */
export async function republish(
  delivery: BrokerDelivery,
  message: OutgoingMessage,
  target: RepublishTarget,
): Promise<string> {
  return (await delivery.republish(message, target)).status;
}

/** The body of a delivery as a text. */
export function textOf({ message }: BrokerDelivery): string {
  return message.content.toString();
}

/** Publishes one message to a queue. */
export function send(
  adapter: ConformanceAdapter,
  queue: string,
  text: string,
  properties = {},
): Promise<boolean> {
  return adapter.publish('', queue, Buffer.from(text), properties);
}

/** Waits until a queue has so many ready messages, and returns them. */
export async function waitForReady(adapter: ConformanceAdapter, queue: string, count: number) {
  return poll(adapter, `${count} messages in ${queue}`, async () => {
    const messages = await adapter.messages(queue);
    return messages?.length === count ? messages : undefined;
  });
}

/** The newest entry of a message's x-death header. */
export function deathOf(message: TestMessage | undefined): unknown {
  const deaths: unknown = message?.headers['x-death'];
  const [newest] = Array.isArray(deaths) ? deaths : [];
  return { reason: newest?.reason, queue: newest?.queue };
}
