import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type LoggerService,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { BrokerConnection } from '../broker/connection';
import type { Broker } from '../broker/port';
import type { Clock, Timer } from '../clock';
import { SettleStartupError, StoppingError } from '../outcome/errors';
import { messages } from '../outcome/messages';
import { chainOf } from '../pipeline/chain';
import { SubscriptionLog, writeLine } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import { ActiveSubscription } from './active-subscription';
import { EnhancerFinder } from './enhancers';
import { Explorer } from './explorer';
import { FailFast } from './fail-fast';
import { HandlerCaller } from './handler-caller';
import { type SettleModuleOptions, type SettleTerms, settleTermsOf } from './module-options';
import { type Planned, Planner } from './planner';
import { Receiver } from './receiver';
import { refusalOf, SubscriptionRegistry } from './registry';
import { SettlementEvents } from './settlement-events';
import { Stopping } from './stopping';
import { CLOCK, CONNECTIONS, LOGGER, SETTLE_OPTIONS, TERMS } from './tokens';

/** How often the age of the oldest delivery is looked at, and from which age on it is told, in ms. */
const WATCH_INTERVAL = 60_000;

/**
 * Starts consuming when the application has booted, and stops before anything else does: explores,
 * plans, builds each subscription's chain and consumer, and waits for the first attempt of each.
 */
@Injectable()
export class Registrar
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  readonly #logs = new Map<Subscription, SubscriptionLog>();
  #watch: Timer | undefined;

  constructor(
    @Inject(SETTLE_OPTIONS) private readonly options: SettleModuleOptions,
    @Inject(TERMS) private readonly terms: SettleTerms,
    @Inject(LOGGER) private readonly logger: LoggerService,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONNECTIONS) private readonly connections: () => readonly BrokerConnection[],
    private readonly explorer: Explorer,
    private readonly planner: Planner,
    private readonly caller: HandlerCaller,
    private readonly enhancers: EnhancerFinder,
    private readonly registry: SubscriptionRegistry,
    private readonly events: SettlementEvents,
    private readonly stopping: Stopping,
    private readonly failFast: FailFast,
    private readonly container: ModulesContainer,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.stopping.begun) return;
    const planned = this.#plan();
    const brokers = new Map<BrokerConnection, Broker>();
    for (const { connection } of planned) {
      if (brokers.has(connection)) continue;
      brokers.set(
        connection,
        connection.broker({
          copyTimeout: this.terms.copyTimeout,
          logOf: (subscription) => this.#logOf(subscription),
        }),
      );
    }
    const active = planned.map((plan) => this.#activate(plan, brokers));
    this.stopping.register(active, [...brokers.values()]);
    this.registry.register(active);
    await Promise.all(active.map(({ consumer }) => consumer?.start()));
    await this.#requireAccepted(active);
    if (!this.stopping.begun) this.#watchAges(active);
  }

  onModuleDestroy(): Promise<void> {
    return this.#stop();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.#stop();
  }

  #stop(): Promise<void> {
    this.#watch?.cancel();
    this.registry.stopped(new StoppingError(messages.stopping));
    return this.stopping.stop();
  }

  #plan(): readonly Planned[] {
    const explored = this.explorer.explore();
    const connections = this.connections();
    const { planned, faults } = this.planner.plan(explored.handlers, connections);
    const modules = [...this.container.values()].filter(({ providers }) =>
      providers.has(Registrar),
    );
    const all = [
      ...(modules.length > 1 ? [messages.moduleTwice] : []),
      ...settleTermsOf(this.options).faults,
      ...explored.faults,
      ...faults,
    ];
    if (all.length > 0) {
      const error = new SettleStartupError([...new Set(all)]);
      this.registry.failed(error);
      throw error;
    }
    const skipped = this.enhancers.skippedForMessages();
    if (skipped.length > 0 && planned.length > 0) {
      writeLine(this.logger, 'warn', messages.requestScopedEnhancers(skipped));
    }
    return planned;
  }

  #activate(
    { handler, subscription, connection }: Planned,
    brokers: ReadonlyMap<BrokerConnection, Broker>,
  ): ActiveSubscription {
    const { clock, events, stopping } = this;
    const log = this.#logOf(subscription);
    const chain = chainOf({
      subscription,
      call: this.caller.callOf(handler),
      clock,
      log,
      interceptors: this.terms.interceptors,
      isPanic: this.terms.isPanic,
      deserializer: connection.deserializer,
    });
    const receiver: Receiver = new Receiver({
      subscription,
      chain,
      clock,
      log,
      stopping: () => stopping.begun,
      backOff: () => active.consumer?.backOff() ?? Promise.resolve(),
      intakeStopped: () => active.consumer?.pause() ?? Promise.resolve(),
      failFast: ({ delivery }, error) =>
        this.failFast.trigger({ subscription, delivery, error }, () => this.#stop()),
      observed: () => events.observed,
      settled: (settlement) => {
        active.noted(settlement);
        events.emit(settlement);
      },
    });
    const { type, method } = handler;
    const active: ActiveSubscription = new ActiveSubscription(
      subscription,
      type,
      method,
      receiver,
      () => clock.now(),
    );
    if (!connection.registersHandlers) {
      active.skip();
      log.info('start', messages.skipped(connection.name));
      return active;
    }
    const prefetch =
      subscription.prefetch ?? connection.prefetchOf(subscription.queueOptions.channel);
    const broker = brokers.get(connection);
    if (broker !== undefined) active.attach(broker.consumer(subscription, prefetch, active));
    log.info('start', messages.subscription(subscription, prefetch));
    return active;
  }

  async #requireAccepted(active: readonly ActiveSubscription[]): Promise<void> {
    const refused = active.filter(({ state }) => state === 'refused');
    if (refused.length === 0 || this.terms.onRefused === 'continue') return;
    const error = refusalOf(refused);
    this.registry.failed(error);
    await this.#stop();
    throw error;
  }

  #logOf(subscription: Subscription): SubscriptionLog {
    const log =
      this.#logs.get(subscription) ??
      new SubscriptionLog(this.logger, subscription.handler, this.clock);
    this.#logs.set(subscription, log);
    return log;
  }

  // A handler that never settles holds a place of the prefetch for ever, and nothing else tells.
  #watchAges(active: readonly ActiveSubscription[]): void {
    this.#watch = this.clock.after(
      WATCH_INTERVAL,
      () => {
        for (const { receiver, subscription } of active) {
          const age = receiver.oldestAge;
          if (age < WATCH_INTERVAL) continue;
          const text = messages.oldDelivery(subscription.queue, age, receiver.inFlight);
          this.#logOf(subscription).warn('age', text);
        }
        this.#watchAges(active);
      },
      { background: true },
    );
  }
}
