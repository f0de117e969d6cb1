import type { INestApplicationContext, ModuleMetadata } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { systemClock } from '../clock';
import { GracefulShutdown } from '../lifecycle/graceful-shutdown';
import { SubscriptionRegistry } from '../lifecycle/registry';
import { SettlementEvents } from '../lifecycle/settlement-events';
import { texts } from '../log/texts';
import { LONGEST_DELAY, milliseconds } from '../model/duration';
import type { FailFastEvent } from '../model/settle-options';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { HandlerClass, MethodName } from '../subscribe/token';
import { MemoryTestBroker } from './memory-test-broker';
import {
  type CompiledParts,
  SettleTestBuilder,
  type SettleTestOptions,
} from './settle-test-builder';
import { SettlementRecord } from './settlement-record';
import type { TestBroker } from './test-broker';
import {
  type Span,
  type TestProperties,
  type TestQueue,
  type TestSettlement,
  testSettlementOf,
} from './test-settlement';

/** Turns without any change after which nothing is in flight by itself. */
const QUIET_TURNS = 4;
/** For how many ms a begun handler is taken to wait for something real, and not for time to pass. */
const HANDLER_PATIENCE = 25;
/** Below the limit that Vitest and Jest set a test. */
const IDLE_LIMIT = 4_000;

/**
 * An application under test: its own modules unchanged, its handlers fed by hand, each settlement a value.
 * @publicApi
 */
export class SettleTest {
  /** The application. */
  readonly module: TestingModule;
  readonly #broker: TestBroker;
  readonly #failFast: readonly FailFastEvent[];
  readonly #record: SettlementRecord;
  #numbers = 0;
  #published = 0;
  #seen = '';
  #patience = HANDLER_PATIENCE;
  #closing: Promise<void> | undefined;

  private constructor({ module, broker, failFast }: CompiledParts) {
    this.module = module;
    this.#broker = broker;
    this.#failFast = failFast;
    this.#record = new SettlementRecord(this.get(SettlementEvents));
  }

  /** A test of an application: `await SettleTest.create({ imports: [AppModule] }).compile()`. */
  static create(
    metadata: ModuleMetadata,
    options: SettleTestOptions = {},
  ): SettleTestBuilder<SettleTest> {
    return new SettleTestBuilder(metadata, options, (parts) => new SettleTest(parts));
  }

  /** A provider of the application. */
  get: INestApplicationContext['get'] = ((token: never) =>
    this.module.get(token, { strict: false })) as INestApplicationContext['get'];

  /** The server in memory: holds and refuses confirms, deletes queues. @throws Error on a real server. */
  get server(): MemoryTestBroker['server'] {
    return this.#memory.server;
  }

  /** The event with which failFast has stopped the application; the process goes on. */
  get failFastEvent(): FailFastEvent | undefined {
    return this.#failFast[0];
  }

  /** Publishes as any publisher would; says whether any queue took the message. A Buffer goes as it is. */
  publish(
    exchange: string,
    routingKey: string,
    payload: unknown,
    properties: TestProperties = {},
  ): Promise<boolean> {
    this.#published += 1;
    return this.#broker.publish(exchange, routingKey, bodyOf(payload), properties);
  }

  /**
   * Puts a message into the queue of one subscription and resolves with its settlement. With a delay in
   * between, `advance` the clock before awaiting the next one.
   */
  async deliver<T extends HandlerClass>(
    type: T,
    method: MethodName<InstanceType<T>>,
    payload: unknown,
    properties: TestProperties & { readonly name?: string } = {},
  ): Promise<TestSettlement> {
    const { name, ...own } = properties;
    const { subscription } = this.get(SubscriptionRegistry).get(type, method, name);
    this.#numbers += 1;
    const messageId = own['messageId'] ?? `test-${this.#numbers}`;
    const settled = this.#record.next(subscription, messageId);
    if (!this.#record.stopped) {
      await this.publish('', this.#queueOf(subscription), payload, { ...own, messageId });
    }
    return testSettlementOf(await settled);
  }

  /** Resolves when nothing is in flight and nothing moves before time passes. */
  async idle(): Promise<void> {
    const limit = systemClock.monotonic() + IDLE_LIMIT;
    do {
      await this.#quiet();
      if (systemClock.monotonic() > limit) throw new Error(texts.neverIdle(this.#inFlight));
    } while (this.#inFlight > 0 || this.#isStopping);
  }

  /**
   * Moves the time: delays, TTLs, timeouts and backoffs become due in order, and what they set off runs
   * before the time moves on. On a real server it waits.
   */
  async advance(span: Span): Promise<void> {
    const ms = milliseconds(span);
    if (ms === undefined || ms > LONGEST_DELAY) throw new RangeError(texts.durationExpected);
    await this.#broker.advance(ms, (isLikely) => this.#quiet(isLikely));
  }

  /** A queue with its messages and counts. @throws Error where there is none of that name. */
  queue(name: string): Promise<TestQueue> {
    return this.#broker.queue(name);
  }

  /** What became of the deliveries of one subscription so far, in order. */
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

  /** Lets the channel of one subscription die: what it has not settled comes again. In memory only. */
  loseChannel<T extends HandlerClass>(
    type: T,
    method: MethodName<InstanceType<T>>,
    name?: string,
  ): void {
    const { subscription } = this.get(SubscriptionRegistry).get(type, method, name);
    const consumer = this.#memory.consumers.find((one) => one.subscription === subscription);
    consumer?.channel?.die();
  }

  /** Closes the application: drains as it does outside of tests. What still waits for time does not wait. */
  close(): Promise<void> {
    this.#closing ??= this.#broker.close(() => this.module.close());
    return this.#closing;
  }

  get #memory(): MemoryTestBroker {
    if (this.#broker instanceof MemoryTestBroker) return this.#broker;
    throw new Error(texts.onlyInMemory);
  }

  get #inFlight(): number {
    const statuses = this.get(SubscriptionRegistry).list();
    return statuses.reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  /** Whether failFast, or anything else, has begun to stop the application and is not done. */
  get #isStopping(): boolean {
    return this.get(GracefulShutdown).hasBegun && !this.#record.stopped;
  }

  get #consumedQueues(): readonly string[] {
    const consuming = this.get(SubscriptionRegistry)
      .list()
      .filter(({ state }) => state === 'consuming');
    return consuming.flatMap(({ subscription: { queue } }) => (queue === undefined ? [] : [queue]));
  }

  #queueOf(subscription: SubscriptionMetadata): string {
    const named =
      this.#broker instanceof MemoryTestBroker
        ? this.#broker.consumers.find((one) => one.subscription === subscription)?.queue
        : subscription.queue;
    if (named === undefined) throw new Error(texts.noQueueToDeliverTo(subscription.handler));
    return named;
  }

  // Promises and turns of the event loop run on real time: they are let run until nothing changes. A
  // handler that has begun gets a moment for what it does, but may as well wait for the clock.
  async #quiet(isLikely = true): Promise<void> {
    const limit = systemClock.monotonic() + IDLE_LIMIT;
    // One turn shows whether anything is under way; a long time has many thousands of such steps.
    let quiet = isLikely ? 0 : QUIET_TURNS - 1;
    while (quiet < QUIET_TURNS || (this.#inFlight > 0 && this.#patience > 0)) {
      if (quiet < QUIET_TURNS) await this.#broker.turn();
      else await this.#waitForHandlers();
      if (systemClock.monotonic() > limit) return;
      const state = `${this.#published} ${this.#record.list.length} ${this.#inFlight}`;
      const isQuiet = state === this.#seen && (await this.#broker.isSettled(this.#consumedQueues));
      quiet = isQuiet ? quiet + 1 : 0;
      if (!isQuiet) this.#patience = HANDLER_PATIENCE;
      this.#seen = state;
    }
  }

  // Counted in timers that have run, not in time: under load a process stands still for longer than that.
  #waitForHandlers(): Promise<void> {
    this.#patience -= 1;
    return new Promise((resolve) => systemClock.after(1, resolve));
  }
}

function bodyOf(payload: unknown): Buffer {
  if (Buffer.isBuffer(payload)) return payload;
  return payload === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(payload));
}
