import {
  ConfigurableModuleBuilder,
  type DynamicModule,
  Logger,
  type LoggerService,
  Module,
  type Provider,
} from '@nestjs/common';
import { DiscoveryModule, ModulesContainer } from '@nestjs/core';
import { connectionProviders } from './connections';
import { ActiveSubscriptionFactory } from './lifecycle/active-subscription-factory';
import { ActiveSubscriptions } from './lifecycle/active-subscriptions';
import { DeliveryObservation } from './lifecycle/delivery-observation';
import { ApplicationExit } from './lifecycle/exit';
import { FailFast } from './lifecycle/fail-fast';
import { GracefulShutdown } from './lifecycle/graceful-shutdown';
import { SubscriptionPlanner } from './lifecycle/planner';
import { SubscriptionRegistrar } from './lifecycle/registrar';
import { SubscriptionRegistry } from './lifecycle/registry';
import { SettlementEvents, SettlementStream } from './lifecycle/settlement-events';
import { StuckDeliveryWatch } from './lifecycle/stuck-delivery-watch';
import { SubscriptionEvents, SubscriptionStateStream } from './lifecycle/subscription-events';
import { SubscriptionLogs } from './lifecycle/subscription-logs';
import { StructuredLogger } from './log/structured-logger';
import { texts } from './log/texts';
import { SettleStartupError } from './model/errors';
import type { SettleModuleOptions } from './model/settle-options';
import { EnhancerFinder } from './nest/enhancers';
import { SubscriptionExplorer } from './nest/explorer';
import { HandlerCaller } from './nest/handler-caller';
import { RequestScope } from './nest/request-scope';
import { RunningApplication } from './nest/running-application';
import { subscriptionProviders } from './nest/subscription-providers';
import { CLOCK, CONNECTIONS, EXIT, LOGGER, RESOLVED_OPTIONS, SETTLE_OPTIONS } from './nest/tokens';
import { resolveSettleOptions } from './subscribe/resolve-settle-options';

/**
 * Implemented by the class that `forRootAsync({ useClass })` takes.
 * @publicApi
 */
export interface SettleOptionsFactory {
  createSettleOptions(): SettleModuleOptions | Promise<SettleModuleOptions>;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<SettleModuleOptions>({
    moduleName: 'Settle',
    optionsInjectionToken: SETTLE_OPTIONS,
  })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createSettleOptions')
    .build();

const providers: readonly Provider[] = [
  {
    provide: RESOLVED_OPTIONS,
    useFactory: (options: SettleModuleOptions) => resolveSettleOptions(options).resolved,
    inject: [MODULE_OPTIONS_TOKEN],
  },
  {
    provide: LOGGER,
    useFactory: ({ logger = Logger, structuredLogs }: SettleModuleOptions): LoggerService =>
      structuredLogs === true ? new StructuredLogger(logger) : logger,
    inject: [MODULE_OPTIONS_TOKEN],
  },
  ...connectionProviders,
  {
    provide: EXIT,
    useFactory: (exit: ApplicationExit) => () => exit.run(),
    inject: [ApplicationExit],
  },
  DeliveryObservation,
  SettlementStream,
  {
    provide: SettlementEvents,
    useFactory: ({ events }: SettlementStream) => events,
    inject: [SettlementStream],
  },
  SubscriptionStateStream,
  {
    provide: SubscriptionEvents,
    useFactory: ({ events }: SubscriptionStateStream) => events,
    inject: [SubscriptionStateStream],
  },
  SubscriptionExplorer,
  EnhancerFinder,
  RequestScope,
  HandlerCaller,
  SubscriptionPlanner,
  SubscriptionLogs,
  ActiveSubscriptions,
  ActiveSubscriptionFactory,
  SubscriptionRegistry,
  GracefulShutdown,
  RunningApplication,
  ApplicationExit,
  FailFast,
  StuckDeliveryWatch,
  SubscriptionRegistrar,
];

// The observation and the clock are for the other entries of this package.
const exported = [
  SubscriptionRegistry,
  SettlementEvents,
  SubscriptionEvents,
  DeliveryObservation,
  CLOCK,
  // For the entries of this package.
  ActiveSubscriptions,
  CONNECTIONS,
  LOGGER,
];

/**
 * Adds `@Subscribe` to an application, beside golevelup's `RabbitMQModule`, which keeps the connections.
 * Global; more than one in an application is a startup error.
 * @example
 * @Module({
 *   imports: [RabbitMQModule.forRoot({ uri: 'amqp://localhost' }), SettleModule.forRoot()],
 *   providers: [Billing],
 * })
 * export class AppModule {}
 * @publicApi
 */
@Module({})
export class SettleModule extends ConfigurableModuleClass {
  constructor(container: ModulesContainer) {
    super();
    requireOptions(container);
    placeLast(container);
  }

  static override forRoot(options: SettleModuleOptions = {}): DynamicModule {
    return complete(super.forRoot(options));
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return complete(super.forRootAsync(options));
  }
}

// The classes whose methods carry subscriptions are known when the container scans the module, not yet
// when forRoot is called: hence the getters.
function complete(definition: DynamicModule): DynamicModule {
  const { providers: own = [], imports = [] } = definition;
  return {
    ...definition,
    global: true,
    imports: [...imports, DiscoveryModule],
    get providers() {
      return [...own, ...providers, ...subscriptionProviders()];
    },
    get exports() {
      const tokens = subscriptionProviders().map((provider) =>
        typeof provider === 'object' && 'provide' in provider ? provider.provide : provider,
      );
      return [...exported, ...tokens];
    },
  };
}

// Imported as a class, the module has no providers and starts nothing.
function requireOptions(container: ModulesContainer): void {
  const modules = [...container.values()];
  if (modules.some(({ providers: all }) => all.has(SETTLE_OPTIONS))) return;
  throw new SettleStartupError([texts.moduleWithoutOptions]);
}

// Below the root module, this module boots after all others and stops before them; the order of hooks
// follows the distance from the root.
function placeLast(container: ModulesContainer): void {
  for (const module of container.values()) {
    if (module.metatype === SettleModule) module.distance = -1;
  }
}
