import {
  ConfigurableModuleBuilder,
  type DynamicModule,
  Logger,
  type LoggerService,
  Module,
  type Provider,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModulesContainer } from '@nestjs/core';
import { type Clock, systemClock } from './clock';
import { GolevelupConnection, isAmqpConnection } from './rabbitmq/golevelup';
import { EnhancerFinder } from './runtime/enhancers';
import { Explorer } from './runtime/explorer';
import { FailFast, leaveProcess } from './runtime/fail-fast';
import { HandlerCaller } from './runtime/handler-caller';
import { type SettleModuleOptions, settleTermsOf } from './runtime/module-options';
import { Planner } from './runtime/planner';
import { Registrar } from './runtime/registrar';
import { SubscriptionRegistry } from './runtime/registry';
import { SettlementEvents } from './runtime/settlement-events';
import { Stopping } from './runtime/stopping';
import { subscriptionProviders } from './runtime/subscription-providers';
import { CLOCK, CONNECTIONS, LEAVE, LOGGER, SETTLE_OPTIONS, TERMS } from './runtime/tokens';

/** What a class gives `forRootAsync({ useClass })`. */
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
    provide: TERMS,
    useFactory: (options: SettleModuleOptions) => settleTermsOf(options).terms,
    inject: [MODULE_OPTIONS_TOKEN],
  },
  {
    provide: LOGGER,
    useFactory: (options: SettleModuleOptions): LoggerService => options.logger ?? Logger,
    inject: [MODULE_OPTIONS_TOKEN],
  },
  { provide: CLOCK, useValue: systemClock },
  {
    provide: CONNECTIONS,
    useFactory: (discovery: DiscoveryService, clock: Clock) => () => {
      const instances = discovery.getProviders().map(({ instance }) => instance as unknown);
      return [...new Set(instances.filter(isAmqpConnection))].map(
        (connection) => new GolevelupConnection(connection, clock),
      );
    },
    inject: [DiscoveryService, CLOCK],
  },
  {
    provide: LEAVE,
    useFactory: (clock: Clock) => () => leaveProcess(clock),
    inject: [CLOCK],
  },
  {
    provide: SettlementEvents,
    useFactory: (logger: LoggerService) => new SettlementEvents(logger),
    inject: [LOGGER],
  },
  Explorer,
  EnhancerFinder,
  HandlerCaller,
  Planner,
  SubscriptionRegistry,
  Stopping,
  FailFast,
  Registrar,
];

/**
 * Adds `@Subscribe` to an application. Global; once an application, twice is a startup error.
 * `RabbitMQModule` beside it keeps the connections.
 * @publicApi
 */
@Module({})
export class SettleModule extends ConfigurableModuleClass {
  constructor(container: ModulesContainer) {
    super();
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
      return [SubscriptionRegistry, SettlementEvents, ...tokens];
    },
  };
}

// Below the root module, this module boots after all others and stops before them; the order of hooks
// follows the distance from the root.
function placeLast(container: ModulesContainer): void {
  for (const module of container.values()) {
    if (module.metatype === SettleModule) module.distance = -1;
  }
}
