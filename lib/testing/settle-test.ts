import type { INestApplicationContext, ModuleMetadata } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { systemClock } from '../clock';
import { headerOf, SettleHeaders } from '../delivery/headers';
import { ActiveSubscriptions } from '../lifecycle/active-subscriptions';
import { GracefulShutdown } from '../lifecycle/graceful-shutdown';
import { SubscriptionRegistry } from '../lifecycle/registry';
import { SettlementEvents } from '../lifecycle/settlement-events';
import { texts } from '../log/texts';
import { milliseconds } from '../model/duration';
import type { FailFastEvent } from '../model/settle-options';
import type { Settlement } from '../model/settlement';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { HandlerClass, MethodName } from '../subscribe/token';
import { matchingProperties } from './matching-properties';
import { MemoryTestBroker } from './memory-test-broker';
import type { Quiescence } from './quiescence';
import {
  type CompiledApplication,
  SettleTestBuilder,
  type SettleTestOptions,
} from './settle-test-builder';
import { SettlementRecord } from './settlement-record';
import { bodyOf, queueOf, tripKillSwitch } from './subscription-access';
import type { TestBroker } from './test-broker';
import {
  type Span,
  type TestProperties,
  type TestQueue,
  type TestSettlement,
  testSettlementOf,
} from './test-settlement';

/** Below the time limit of a test in Vitest and Jest, in ms. */
const IDLE_LIMIT = 4_000;

/**
 * An application under test, with its own modules unchanged: the test publishes, moves the time, and looks
 * at settlements and queues.
 * @example
 * const test = await SettleTest.create({ imports: [AppModule] }).compile();
 * const settlement = await test.deliver(Billing, 'charge', { id: 7 });
 * expect(settlement).toMatchObject({ outcome: 'ack', attempt: 1 });
 * await test.close();
 * @publicApi
 */
export class SettleTest {
  /** The application. */
  readonly module: TestingModule;
  readonly #broker: TestBroker;
  readonly #failFast: readonly FailFastEvent[];
  readonly #record: SettlementRecord;
  readonly #quiescence: Quiescence;
  #numbers = 0;
  #closing: Promise<void> | undefined;

  private constructor({ module, broker, quiescence, failFast }: CompiledApplication) {
    this.module = module;
    this.#broker = broker;
    this.#quiescence = quiescence;
    this.#failFast = failFast;
    this.#record = new SettlementRecord(this.get(SettlementEvents));
  }

  /** A test of an application: `await SettleTest.create({ imports: [AppModule] }).compile()`. */
  static create(
    metadata: ModuleMetadata,
    options: SettleTestOptions = {},
  ): SettleTestBuilder<SettleTest> {
    return new SettleTestBuilder(metadata, options, (application) => new SettleTest(application));
  }

  /** A provider of the application. */
  get: INestApplicationContext['get'] = ((token: never) =>
    this.module.get(token, { strict: false })) as INestApplicationContext['get'];

  /**
   * The server in memory: holds and refuses confirms, deletes queues.
   * @throws Error on a real server.
   */
  get server(): MemoryTestBroker['server'] {
    return this.#memory.server;
  }

  /** The event of the failFast that has closed the application, once it has; the process goes on. */
  get failFastEvent(): FailFastEvent | undefined {
    return this.#failFast[0];
  }

  /**
   * Publishes as any publisher does; resolves with whether any queue took the message. A `Buffer` is the
   * body, anything else is published as JSON. Rejects with what amqplib throws or the server replies.
   */
  publish(
    exchange: string,
    routingKey: string,
    payload: unknown,
    properties: TestProperties = {},
  ): Promise<boolean> {
    this.#quiescence.changed();
    return this.#broker.publish(exchange, routingKey, bodyOf(payload), properties);
  }

  /**
   * Publishes a message to the queue of one subscription and resolves with the settlement of this
   * delivery, not of its retries: `settlements` has those. If the method has a `when`, the message gets the
   * type, headers and routing key that it asks for, unless they are given. Rejects if the application closes
   * before.
   */
  async deliver<T extends HandlerClass>(
    type: T,
    method: MethodName<InstanceType<T>>,
    payload: unknown,
    properties: TestProperties & { readonly name?: string } = {},
  ): Promise<TestSettlement> {
    const { subscription } = this.get(SubscriptionRegistry).get(type, method, properties.name);
    const settled = await this.#send(subscription, payload, properties);
    if (subscription.batch !== undefined) await this.advance(subscription.batch.wait);
    return testSettlementOf(await settled.settlement);
  }

  /**
   * Publishes messages to the queue of one subscription with `batch`, lets the time pass that an incomplete
   * batch waits, and resolves with the settlements of these deliveries, in order. Rejects if the application
   * closes before.
   */
  async deliverBatch<T extends HandlerClass>(
    type: T,
    method: MethodName<InstanceType<T>>,
    payloads: readonly unknown[],
    properties: TestProperties & { readonly name?: string } = {},
  ): Promise<readonly TestSettlement[]> {
    const { subscription } = this.get(SubscriptionRegistry).get(type, method, properties.name);
    const sent: { readonly settlement: Promise<Settlement> }[] = [];
    for (const payload of payloads) sent.push(await this.#send(subscription, payload, properties));
    await this.advance(subscription.batch?.wait ?? 0);
    const settlements = await Promise.all(sent.map(({ settlement }) => settlement));
    return settlements.map(testSettlementOf);
  }

  /**
   * Resolves when nothing is in flight and nothing happens before time passes. Rejects after 4 s: a
   * handler may wait for time to pass.
   */
  async idle(): Promise<void> {
    const limit = systemClock.monotonic() + IDLE_LIMIT;
    do {
      await this.#quiescence.wait();
      const { inFlight } = this.#quiescence;
      if (systemClock.monotonic() > limit) throw new Error(texts.neverIdle(inFlight));
    } while (this.#quiescence.inFlight > 0 || this.#isClosing);
  }

  /**
   * Moves the time: delays, TTLs, timeouts and backoffs become due in order, and what they set off runs
   * before the time moves on. A running handler gets up to 25 ms of real time; after that it is taken to
   * wait for the clock. On a real server, this waits.
   * @throws RangeError if it is not a duration.
   */
  async advance(span: Span): Promise<void> {
    const ms = milliseconds(span);
    if (ms === undefined) throw new RangeError(texts.durationInvalid(span));
    await this.#broker.advance(ms, this.#quiescence);
  }

  /**
   * A queue with its messages and counts, also after `close`. Rejects if it does not exist. On a real
   * server it gets the messages and requeues them, which flags them as redelivered.
   */
  queue(name: string): Promise<TestQueue> {
    return this.#broker.queue(name);
  }

  /** The settlements of one subscription so far, in order. */
  settlements<T extends HandlerClass>(
    type: T,
    method: MethodName<InstanceType<T>>,
    name?: string,
  ): readonly TestSettlement[] {
    const { subscription } = this.get(SubscriptionRegistry).get(type, method, name);
    return this.#record.list
      .filter((settlement) => settlement.subscription === subscription)
      .map(testSettlementOf);
  }

  /**
   * Closes the channel of one subscription as a network failure does: its unsettled messages are
   * redelivered. In memory only.
   */
  loseChannel<T extends HandlerClass>(
    type: T,
    method: MethodName<InstanceType<T>>,
    name?: string,
  ): void {
    const { subscription } = this.get(SubscriptionRegistry).get(type, method, name);
    this.#memory.consumerOf(subscription)?.channel?.close();
  }

  /**
   * Trips the kill switch of one subscription, as too many failures do: it pauses, and `advance` lets it try a
   * message.
   * @throws Error if the subscription has no `killSwitch`.
   */
  trip<T extends HandlerClass>(type: T, method: MethodName<InstanceType<T>>, name?: string): void {
    const { subscription } = this.get(SubscriptionRegistry).get(type, method, name);
    tripKillSwitch(this.get(ActiveSubscriptions), subscription);
  }

  /**
   * Closes the application, as outside of tests. In virtual time, the limits of the shutdown are reached
   * without waiting. The queues can still be inspected.
   */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#quiescence.closing();
      this.#closing = this.#broker.close(() => this.module.close(), this.#quiescence);
    }
    return this.#closing;
  }

  // The settlement is wrapped: a promise would be awaited with this one.
  async #send(
    subscription: SubscriptionMetadata,
    payload: unknown,
    { name: _name, ...given }: TestProperties & { readonly name?: string },
  ): Promise<{ readonly settlement: Promise<Settlement> }> {
    this.#numbers += 1;
    const own = matchingProperties(subscription, given);
    const messageId = own['messageId'] ?? `test-${this.#numbers}`;
    const attempt = headerOf(own.headers, SettleHeaders.attempt);
    const settlement = this.#record.next({ subscription, messageId, attempt });
    if (!this.#record.isComplete) {
      await this.publish('', queueOf(this.#broker, subscription), payload, { ...own, messageId });
    }
    return { settlement };
  }

  get #memory(): MemoryTestBroker {
    if (this.#broker instanceof MemoryTestBroker) return this.#broker;
    throw new Error(texts.onlyInMemory);
  }

  /** Whether failFast, or anything else, is closing the application. */
  get #isClosing(): boolean {
    return this.get(GracefulShutdown).hasBegun && !this.#record.isComplete;
  }
}
