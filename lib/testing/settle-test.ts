import type { INestApplicationContext, ModuleMetadata } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import { systemClock } from '../clock';
import { LONGEST_DELAY, milliseconds } from '../outcome/duration';
import { messages } from '../outcome/messages';
import type { FailFastEvent } from '../runtime/fail-fast';
import { SubscriptionRegistry } from '../runtime/registry';
import { SettlementEvents } from '../runtime/settlement-events';
import type { Settlement } from '../settlement/settlement';
import type { HandlerClass, MethodName } from '../subscription/token';
import { MemoryTestBroker } from './memory-test-broker';
import { SettleTestBuilder, type SettleTestOptions } from './settle-test-builder';
import type { TestBroker } from './test-broker';
import {
  type Span,
  type TestProperties,
  type TestQueue,
  type TestSettlement,
  testSettlementOf,
} from './test-settlement';

/** Turns of the event loop without any change after which nothing is in flight by itself. */
const QUIET_TURNS = 4;
const IDLE_LIMIT = 5_000;

/**
 * An application under test: its own modules unchanged, its handlers fed by hand, each settlement a value.
 * @publicApi
 */
export class SettleTest {
  readonly #settlements: Settlement[] = [];
  readonly #waiting = new Set<(settlement: Settlement) => void>();
  #numbers = 0;
  #changes = 0;

  constructor(
    readonly module: TestingModule,
    private readonly broker: TestBroker,
    private readonly failFast: readonly FailFastEvent[],
  ) {
    module.get(SettlementEvents, { strict: false }).subscribe((settlement) => {
      this.#changes += 1;
      this.#settlements.push(settlement);
      for (const told of this.#waiting) told(settlement);
    });
  }

  /** A test of an application: `await SettleTest.create({ imports: [AppModule] }).compile()`. */
  static create(
    metadata: ModuleMetadata,
    options: SettleTestOptions = {},
  ): SettleTestBuilder<SettleTest> {
    return new SettleTestBuilder(
      metadata,
      options,
      (module, broker, failFast) => new SettleTest(module, broker, failFast),
    );
  }

  /** A provider of the application. */
  get: INestApplicationContext['get'] = ((token: never) =>
    this.module.get(token, { strict: false })) as INestApplicationContext['get'];

  /** The server in memory: holds and refuses confirms, deletes queues. @throws Error on a real server. */
  get server(): MemoryTestBroker['server'] {
    return this.#memory.server;
  }

  /** The event with which failFast has stopped the application; the process goes on. */
  get failedFast(): FailFastEvent | undefined {
    return this.failFast[0];
  }

  /** Publishes as any publisher would; says whether any queue took the message. A Buffer goes as it is. */
  publish(
    exchange: string,
    routingKey: string,
    payload: unknown,
    properties: TestProperties = {},
  ): Promise<boolean> {
    this.#changes += 1;
    return this.broker.publish(exchange, routingKey, bodyOf(payload), properties);
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
    const queue = this.#queueOf(type, method, name);
    this.#numbers += 1;
    const messageId = own['messageId'] ?? `test-${this.#numbers}`;
    const settled = new Promise<Settlement>((resolve) => {
      const told = (settlement: Settlement): void => {
        if (settlement.delivery.messageId !== messageId) return;
        this.#waiting.delete(told);
        resolve(settlement);
      };
      this.#waiting.add(told);
    });
    await this.publish('', queue, payload, { ...own, messageId });
    return testSettlementOf(await settled);
  }

  /** Resolves when nothing is in flight and nothing moves before time passes. */
  async idle(): Promise<void> {
    const limit = systemClock.monotonic() + IDLE_LIMIT;
    while (!(await this.#isIdle())) {
      if (systemClock.monotonic() > limit) throw new Error(messages.neverIdle(this.#inFlight));
    }
  }

  /** Moves the time: delays, TTLs, timeouts and backoffs become due in order. On a real server: waits. */
  async advance(span: Span): Promise<void> {
    const ms = milliseconds(span);
    if (ms === undefined || ms > LONGEST_DELAY) throw new RangeError(messages.durationExpected);
    await this.broker.advance(ms, () => this.#quiet());
  }

  /** A queue with its messages and counts. @throws Error where there is none of that name. */
  queue(name: string): Promise<TestQueue> {
    return this.broker.queue(name);
  }

  /** What became of the deliveries of one subscription so far, in order. */
  settlements<T extends HandlerClass>(
    type: T,
    method: MethodName<InstanceType<T>>,
    name?: string,
  ): readonly TestSettlement[] {
    const { subscription } = this.get(SubscriptionRegistry).get(type, method, name);
    return this.#settlements
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

  /** Closes the application: drains as it does outside of tests. */
  close(): Promise<void> {
    return this.broker.close(() => this.module.close());
  }

  get #memory(): MemoryTestBroker {
    if (this.broker instanceof MemoryTestBroker) return this.broker;
    throw new Error(messages.onlyInMemory);
  }

  get #inFlight(): number {
    const statuses = this.get(SubscriptionRegistry).list();
    return statuses.reduce((sum, { inFlight }) => sum + inFlight, 0);
  }

  #queueOf(type: HandlerClass, method: string, name: string | undefined): string {
    const registry = this.get(SubscriptionRegistry);
    const { subscription } = registry.get(type, method as never, name);
    const named =
      this.broker instanceof MemoryTestBroker
        ? this.broker.consumers.find((one) => one.subscription === subscription)?.queue
        : subscription.queue;
    if (named === undefined) throw new Error(messages.noQueueToDeliverTo(subscription.handler));
    return named;
  }

  async #isIdle(): Promise<boolean> {
    await this.#quiet();
    return this.#inFlight === 0 && (await this.broker.isSettled());
  }

  // Promises and turns of the event loop run on real time: they are let run until nothing changes.
  async #quiet(): Promise<void> {
    let seen = -1;
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      await new Promise<void>((resolve) => systemClock.nextTurn(resolve));
      const now = this.#changes + this.#inFlight * 1e9;
      if (now !== seen || !(await this.broker.isSettled())) quiet = 0;
      seen = now;
    }
  }
}

function bodyOf(payload: unknown): Buffer {
  if (Buffer.isBuffer(payload)) return payload;
  return payload === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(payload));
}
