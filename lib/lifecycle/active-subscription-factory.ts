import { Inject, Injectable } from '@nestjs/common';
import type { BrokerConnection } from '../amqp/connection';
import type { Broker } from '../amqp/port';
import type { Clock } from '../clock';
import { texts } from '../log/texts';
import type { DeliveryInterceptor } from '../model/interceptor';
import type { IsPanic } from '../model/settle-options';
import type { HandlerMethod } from '../nest/explorer';
import { HandlerCaller } from '../nest/handler-caller';
import { CLOCK } from '../nest/tokens';
import { chainOf } from '../pipeline/chain';
import { Receiver } from '../settlement/receiver';
import type { ReceiverHost } from '../settlement/receiver-host';
import { ActiveSubscription } from './active-subscription';
import { endlessPolicies } from './endless-policies';
import { FailFast } from './fail-fast';
import { GracefulShutdown } from './graceful-shutdown';
import type { PlannedSubscription } from './planner';
import { SettlementStream } from './settlement-events';
import { startupLine } from './startup-line';
import { SubscriptionLogs } from './subscription-logs';

/** What all chains of an application share. */
export interface ChainEnvironment {
  readonly interceptors: readonly DeliveryInterceptor[];
  readonly isPanic: IsPanic | undefined;
}

/** Builds a planned subscription: its chain, its receiver and its consumer. */
@Injectable()
export class ActiveSubscriptionFactory {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly caller: HandlerCaller,
    private readonly logs: SubscriptionLogs,
    private readonly stream: SettlementStream,
    private readonly shutdown: GracefulShutdown,
    private readonly failFast: FailFast,
  ) {}

  create(
    { handler, subscription, connection }: PlannedSubscription,
    environment: ChainEnvironment,
    broker: Broker,
  ): ActiveSubscription {
    const { clock } = this;
    const log = this.logs.of(subscription);
    const chain = chainOf({
      ...environment,
      subscription,
      call: this.caller.callOf(handler, subscription.options),
      clock,
      log,
      deserializer: connection.deserializer,
    });
    const host: ReceiverHost = {
      clock,
      log,
      isStopping: () => this.shutdown.hasBegun,
      pauseAfterFailure: () => active.consumer?.pauseAfterFailure() ?? Promise.resolve(),
      consumerCancelled: () => active.consumer?.pause() ?? Promise.resolve(),
      failFast: ({ delivery }, error) => this.failFast.trigger({ subscription, delivery, error }),
      isObserved: () => this.stream.isObserved,
      settled: (settlement) => {
        active.recordResult(settlement);
        this.stream.emit(settlement);
      },
    };
    const receiver = new Receiver(subscription, chain, host);
    const active = new ActiveSubscription(subscription, handler, receiver, log, clock);
    if (connection.registersHandlers) this.#attach(active, handler, connection, broker);
    else {
      active.disable();
      log.write('disabled', texts.disabled(connection.name));
    }
    return active;
  }

  #attach(
    active: ActiveSubscription,
    handler: HandlerMethod,
    connection: BrokerConnection,
    broker: Broker,
  ): void {
    const { subscription } = active;
    const prefetch =
      subscription.prefetch ?? connection.prefetchOf(subscription.queueOptions.channel);
    active.attach(broker.consumer(subscription, prefetch, active));
    const log = this.logs.of(subscription);
    log.write('startup', startupLine(subscription, prefetch));
    const endless = endlessPolicies(subscription);
    if (endless.length > 0) log.write('endless-retry', texts.endlessPolicies(endless));
    const pipes = this.caller.pipesOnUndecoratedPayload(handler);
    if (pipes.length > 0) log.write('global-pipes', texts.globalPipes(pipes));
  }
}
