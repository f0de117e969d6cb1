import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import type { BrokerConnection } from '../amqp/connection';
import type { Broker } from '../amqp/port';
import { RESOLVED_OPTIONS } from '../nest/tokens';
import type { ResolvedSettleOptions } from '../subscribe/resolve-settle-options';
import type { ActiveSubscription } from './active-subscription';
import { ActiveSubscriptionFactory } from './active-subscription-factory';
import { ActiveSubscriptions, refusalOf } from './active-subscriptions';
import { GracefulShutdown } from './graceful-shutdown';
import { consumersOf } from './planned-consumers';
import { SubscriptionPlanner } from './planner';
import { StuckDeliveryWatch } from './stuck-delivery-watch';
import { SubscriptionLogs } from './subscription-logs';

/**
 * Starts consuming when the application has booted, and stops before any other module: plans, builds each
 * subscription, and waits for the first attempt of each.
 */
@Injectable()
export class SubscriptionRegistrar
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  constructor(
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedSettleOptions,
    private readonly planner: SubscriptionPlanner,
    private readonly factory: ActiveSubscriptionFactory,
    private readonly active: ActiveSubscriptions,
    private readonly logs: SubscriptionLogs,
    private readonly shutdown: GracefulShutdown,
    private readonly watch: StuckDeliveryWatch,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (this.shutdown.hasBegun) return;
    const { planned, interceptors } = this.#plan();
    const { isPanic, context } = this.options;
    const environment = { interceptors, isPanic, hasContext: context };
    const brokers = new Map<BrokerConnection, Broker>();
    const active = new Map<ActiveSubscription, Broker>();
    const consumers = consumersOf(planned);
    for (const plan of consumers) {
      const broker = brokers.get(plan.connection) ?? this.#brokerOf(plan.connection);
      brokers.set(plan.connection, broker);
      active.set(this.factory.create(plan, environment, broker), broker);
    }
    this.active.register(active, consumers);
    await Promise.all(this.active.list.map(({ consumer }) => consumer?.start()));
    await this.#requireAccepted();
    if (!this.shutdown.hasBegun) this.watch.start();
  }

  onModuleDestroy(): Promise<void> {
    return this.#stop();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.#stop();
  }

  #stop(): Promise<void> {
    this.watch.stop();
    return this.shutdown.run();
  }

  #plan(): ReturnType<SubscriptionPlanner['plan']> {
    try {
      return this.planner.plan();
    } catch (error) {
      this.active.failed(error as Error);
      throw error;
    }
  }

  #brokerOf(connection: BrokerConnection): Broker {
    return connection.broker({
      republishTimeout: this.options.republishTimeout,
      logOf: (subscription) => this.logs.of(subscription),
    });
  }

  async #requireAccepted(): Promise<void> {
    const refusal = refusalOf(this.active.list);
    if (refusal === undefined || this.options.onRefused === 'continue') return;
    this.active.failed(refusal);
    await this.#stop();
    throw refusal;
  }
}
