import assert from 'node:assert/strict';
import { ActiveSubscription } from '../../lib/lifecycle/active-subscription';
import { ActiveSubscriptionFactory } from '../../lib/lifecycle/active-subscription-factory';
import { ActiveSubscriptions } from '../../lib/lifecycle/active-subscriptions';
import { DeliveryObservation } from '../../lib/lifecycle/delivery-observation';
import { FailFast } from '../../lib/lifecycle/fail-fast';
import { GracefulShutdown } from '../../lib/lifecycle/graceful-shutdown';
import type { PlannedConsumer } from '../../lib/lifecycle/planned-consumers';
import type { PlannedSubscription } from '../../lib/lifecycle/planner';
import { SettlementStream } from '../../lib/lifecycle/settlement-events';
import { SubscriptionStateStream } from '../../lib/lifecycle/subscription-events';
import { SubscriptionLogs } from '../../lib/lifecycle/subscription-logs';
import type { Delivery } from '../../lib/model/delivery';
import type { SubscribeOptions } from '../../lib/model/options';
import type { Settlement } from '../../lib/model/settlement';
import type { HandlerCaller } from '../../lib/nest/handler-caller';
import { normalize } from '../../lib/subscribe/normalize';
import { resolveSettleOptions } from '../../lib/subscribe/resolve-settle-options';
import type { ConformanceAdapter } from './adapter';
import { poll } from './bench';

const SILENT = { log: () => {}, warn: () => {}, error: () => {} };

/** One call of the handler: the payloads of a batch, or of one message, each with its attempt. */
export type Call = readonly string[];

/** The handler of a subscription under test; it gets a batch, or one delivery as a list. */
export type Handle = (payloads: readonly unknown[], deliveries: readonly Delivery[]) => unknown;

/** One subscription of an application, from the channel to the settlement, without a container. */
export class SubscriptionUnderTest {
  readonly calls: Call[] = [];
  readonly settlements: Settlement[] = [];
  readonly active: ActiveSubscription;
  readonly #shutdown: GracefulShutdown;

  /** Call `start` before anything else. */
  constructor(
    private readonly adapter: ConformanceAdapter,
    options: SubscribeOptions,
    handle: Handle,
  ) {
    const { clock, connection } = adapter;
    const subscription = normalize('Conformance.handle', options);
    const list = new ActiveSubscriptions();
    const stream = new SettlementStream(SILENT, new DeliveryObservation(SILENT));
    const states = new SubscriptionStateStream(SILENT);
    const { resolved } = resolveSettleOptions({ shutdownTimeout: '5s', abortGracePeriod: '1s' });
    this.#shutdown = new GracefulShutdown(resolved, clock, SILENT, list, stream, states);
    const onFailFast = (): void => {};
    const failFast = new FailFast({ onFailFast }, SILENT, () => {}, this.#shutdown);
    const logs = new SubscriptionLogs(SILENT, clock);
    const call = (deliveries: readonly Delivery[]): unknown => {
      this.calls.push(deliveries.map(({ payload, attempt }) => `${payload}.${attempt}`));
      return handle(
        deliveries.map(({ payload }) => payload),
        deliveries,
      );
    };
    const caller: Pick<HandlerCaller, keyof HandlerCaller> = {
      callOf: () => (delivery) => call([delivery]),
      batchCallOf: () => ({ call, pipe: undefined }),
      pipesOnUndecoratedPayload: () => [],
    };
    const factory = new ActiveSubscriptionFactory(
      clock,
      caller as HandlerCaller,
      logs,
      stream,
      states,
      this.#shutdown,
      failFast,
    );
    const broker = connection.broker({
      republishTimeout: 10_000,
      logOf: (one) => logs.of(one),
    });
    // The container's part of a handler is not read.
    const handler = { type: Object, method: 'handle' } as unknown as PlannedSubscription['handler'];
    const planned: PlannedConsumer = {
      subscription,
      methods: [{ handler, subscription, connection }],
      connection,
      isSelective: false,
    };
    const environment = { interceptors: [], isPanic: undefined, hasContext: false };
    this.active = factory.create(planned, environment, broker);
    list.register(new Map([[this.active, broker]]), [planned]);
    stream.events.subscribe((settlement) => this.settlements.push(settlement));
  }

  async start(): Promise<this> {
    await this.active.consumer?.start();
    await this.waitForState('consuming');
    return this;
  }

  /** Waits for a state of the subscription, with the cause of a pause after a space. */
  async waitForState(state: string): Promise<void> {
    const present = (): string => {
      const [method] = this.active.methods;
      assert.ok(method);
      const { state: name, cause } = this.active.statusOf(method);
      return cause === undefined ? name : `${name} ${cause}`;
    };
    await poll(this.adapter, `the state ${state}`, () => present() === state || undefined);
  }

  /** How many deliveries wait. */
  async waitForWaiting(count: number): Promise<void> {
    const { receiver } = this.active;
    const what = `${count} deliveries that wait`;
    await poll(this.adapter, what, () => receiver.waiting === count || undefined);
  }

  /** Waits for so many calls of the handler. */
  async called(times: number): Promise<readonly Call[]> {
    const { calls } = this;
    await poll(this.adapter, `${times} calls`, () => calls.length >= times || undefined);
    return calls;
  }

  /** Waits for so many settlements: payload, decision, and its reason or the status if not sent, sorted. */
  async settled(count: number): Promise<readonly string[]> {
    const { settlements } = this;
    await poll(
      this.adapter,
      `${count} settlements`,
      () => settlements.length >= count || undefined,
    );
    return settlements.map(textOf).sort();
  }

  /** Waits until so many messages have been acknowledged. */
  async acknowledged(count: number): Promise<void> {
    const present = (): number =>
      this.settlements.filter((one) => textOf(one).endsWith(' ack')).length;
    const what = `${count} acknowledgements`;
    await poll(this.adapter, what, () => present() >= count || undefined);
  }

  /** Shuts down as an application does. */
  async close(): Promise<void> {
    await this.#shutdown.run();
  }
}

function textOf({ delivery, decision, status }: Settlement): string {
  const reason = decision.kind === 'deadLetter' ? ` ${decision.reason}` : '';
  const body = delivery.message.content.toString();
  return `${body} ${decision.kind}${reason}${status === 'sent' ? '' : ` ${status}`}`;
}

/** What a handler waits for until a scenario opens it. */
export class Opening {
  readonly opened: Promise<void>;
  open: () => void = () => {};

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}
