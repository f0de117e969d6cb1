import { Inject, Injectable } from '@nestjs/common';
import type { Broker } from '../amqp/port';
import type { Clock } from '../clock';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { matchOf } from '../delivery/when';
import { texts } from '../log/texts';
import type { DeliveryInterceptor } from '../model/interceptor';
import type { IsPanic } from '../model/settle-options';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { HandlerCaller } from '../nest/handler-caller';
import { CLOCK } from '../nest/tokens';
import type { BatchHandling } from '../pipeline/batch';
import { batchChainOf } from '../pipeline/batch-chain';
import { chainOf } from '../pipeline/chain';
import type { Handling } from '../pipeline/interceptor';
import { unmatchedHandling } from '../pipeline/unmatched';
import { Receiver } from '../settlement/receiver';
import type { ReceiverHost } from '../settlement/receiver-host';
import { SharedReceiver } from '../settlement/shared-receiver';
import { ActiveSubscription } from './active-subscription';
import { endlessPolicies } from './endless-policies';
import { FailFast } from './fail-fast';
import { GracefulShutdown } from './graceful-shutdown';
import type { PlannedConsumer } from './planned-consumers';
import type { PlannedSubscription } from './planner';
import { prefetchOf } from './planning-checks';
import { SettlementStream } from './settlement-events';
import { startupLine } from './startup-line';
import { SubscriptionStateStream } from './subscription-events';
import { SubscriptionLogs } from './subscription-logs';

type AnyHandling = Handling<DeliveryRecord> | BatchHandling;

/** What all chains of an application share. */
export interface ChainEnvironment {
  readonly interceptors: readonly DeliveryInterceptor[];
  readonly isPanic: IsPanic | undefined;
  /** Whether `currentDelivery()` gives the delivery. */
  readonly hasContext: boolean;
}

/** Builds a planned consumer: the chains and receivers of its methods, and the consumer itself. */
@Injectable()
export class ActiveSubscriptionFactory {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly caller: HandlerCaller,
    private readonly logs: SubscriptionLogs,
    private readonly stream: SettlementStream,
    private readonly states: SubscriptionStateStream,
    private readonly shutdown: GracefulShutdown,
    private readonly failFast: FailFast,
  ) {}

  create(
    planned: PlannedConsumer,
    environment: ChainEnvironment,
    broker: Broker,
  ): ActiveSubscription {
    const { clock } = this;
    const { subscription, connection, isSelective } = planned;
    const log = this.logs.of(subscription);
    const receiverOf = (own: SubscriptionMetadata, chain: AnyHandling): Receiver =>
      new Receiver(own, chain, {
        ...this.#hostOf(own, subscription.killSwitch !== undefined, () => active),
        prefetch: prefetchOf(subscription, connection),
      });
    const methods = planned.methods.map((plan) => ({
      ...plan,
      receiver: receiverOf(plan.subscription, this.#chainOf(plan, environment)),
    }));
    const [first] = methods;
    const receiver =
      first !== undefined && !isSelective
        ? first.receiver
        : new SharedReceiver(
            methods.map(({ receiver, subscription: { when } }) => ({
              receiver,
              match: when && matchOf(when),
            })),
            receiverOf(subscription, unmatchedHandling(log, environment.isPanic)),
          );
    const active = new ActiveSubscription(subscription, methods, receiver, {
      log,
      clock,
      stateChanged: (change) => this.states.emit(change),
    });
    if (connection.registersHandlers) this.#attach(active, planned, broker);
    else {
      active.disable();
      log.write('disabled', texts.disabled(connection.name));
    }
    return active;
  }

  #chainOf(
    { handler, subscription, connection }: PlannedSubscription,
    environment: ChainEnvironment,
  ): AnyHandling {
    const parts = {
      ...environment,
      subscription,
      clock: this.clock,
      log: this.logs.of(subscription),
      deserializer: connection.deserializer,
    };
    if (subscription.batch !== undefined) {
      const observe = this.stream.observation.observer?.batchBegan;
      const called = this.caller.batchCallOf(handler, subscription.options);
      return batchChainOf({ ...parts, ...called, observe });
    }
    const { options, requestScope } = subscription;
    return chainOf({ ...parts, call: this.caller.callOf(handler, options, requestScope) });
  }

  #hostOf(
    subscription: SubscriptionMetadata,
    hasKillSwitch: boolean,
    active: () => ActiveSubscription,
  ): Omit<ReceiverHost, 'prefetch'> {
    return {
      clock: this.clock,
      log: this.logs.of(subscription),
      observer: this.stream.observation.observer,
      isStopping: () => this.shutdown.hasBegun,
      isPaused: () => active().pausing.isPaused,
      pauseAfterFailure: (error) => active().pausing.pauseAfterFailure(error),
      pauseFor: (ms, error) => active().pausing.pauseFor(ms, error),
      pauseStuck: () => void active().pausing.pause('stuck'),
      republished: () => active().pausing.republished(),
      consumerCancelled: () => active().pausing.followed(),
      ...(hasKillSwitch && {
        releases: (inFlight, outcome) => active().killSwitch?.releases(inFlight, outcome) ?? false,
        finished: () => active().pausing.finished(),
      }),
      failFast: ({ delivery }, error) => this.failFast.trigger({ subscription, delivery, error }),
      isObserved: () => this.stream.isObserved,
      settled: (settlement) => {
        active().recordResult(settlement);
        this.stream.emit(settlement);
      },
    };
  }

  #attach(
    active: ActiveSubscription,
    { subscription, methods, connection }: PlannedConsumer,
    broker: Broker,
  ): void {
    const prefetch = prefetchOf(subscription, connection);
    active.attach(broker.consumer(subscription, prefetch, active));
    for (const { subscription: own, handler } of methods) {
      const log = this.logs.of(own);
      log.write('startup', startupLine(own, prefetch));
      const endless = endlessPolicies(own);
      if (endless.length > 0) log.write('endless-retry', texts.endlessPolicies(endless));
      const pipes = this.caller.pipesOnUndecoratedPayload(handler);
      if (pipes.length > 0) log.write('global-pipes', texts.globalPipes(pipes));
    }
  }
}
