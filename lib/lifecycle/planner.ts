import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import type { BrokerConnection } from '../amqp/connection';
import { writeLine } from '../log/subscription-log';
import { texts } from '../log/texts';
import { SettleStartupError } from '../model/errors';
import type { DeliveryInterceptor } from '../model/interceptor';
import type { SubscribeDefaults, SubscribeOptions } from '../model/options';
import type { SettleModuleOptions } from '../model/settle-options';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { controllerFaults, EnhancerFinder } from '../nest/enhancers';
import { type HandlerMethod, SubscriptionExplorer } from '../nest/explorer';
import { parameterFaults } from '../nest/parameters';
import { scopeFaults } from '../nest/request-scope';
import { effectiveSubscription } from '../nest/subscription-providers';
import { CONNECTIONS, LOGGER, SETTLE_OPTIONS } from '../nest/tokens';
import { joinOptions } from '../subscribe/bindings';
import { faultsOf } from '../subscribe/normalize';
import { resolveSettleOptions } from '../subscribe/resolve-settle-options';
import { resolveInterceptors } from './interceptor-resolver';
import { batchFaults, limitFaults } from './limit-checks';
import {
  conflictsIn,
  connectionFor,
  golevelupConflictsIn,
  routingFaults,
  schemaFaults,
} from './planning-checks';

/** One subscription that is to consume: its handler, its options and its connection. */
export interface PlannedSubscription {
  readonly handler: HandlerMethod;
  readonly subscription: SubscriptionMetadata;
  readonly connection: BrokerConnection;
}

/** Everything that is to be started. */
export interface Plan {
  readonly planned: readonly PlannedSubscription[];
  readonly interceptors: readonly DeliveryInterceptor[];
}

/** Turns handlers into subscriptions on connections, and finds all faults before anything starts. */
@Injectable()
export class SubscriptionPlanner {
  constructor(
    @Inject(SETTLE_OPTIONS) private readonly options: SettleModuleOptions,
    @Inject(LOGGER) private readonly logger: LoggerService,
    @Inject(CONNECTIONS) private readonly connections: () => readonly BrokerConnection[],
    private readonly explorer: SubscriptionExplorer,
    private readonly enhancers: EnhancerFinder,
    private readonly modules: ModuleRef,
    private readonly container: ModulesContainer,
  ) {}

  /** @throws SettleStartupError with every fault of the application's options. */
  plan(): Plan {
    const explored = this.explorer.explore();
    const { resolved, faults: optionFaults } = resolveSettleOptions(this.options);
    const { interceptors, faults: interceptorFaults } = resolveInterceptors(
      this.modules,
      resolved.interceptors,
    );
    const { planned, faults } = this.#planAll(explored.handlers, resolved.defaults);
    const all = [
      ...this.#moduleFaults(),
      ...batchFaults(planned),
      ...optionFaults,
      ...interceptorFaults,
      ...faults,
      ...golevelupConflictsIn(planned, explored.golevelupHandlers),
    ];
    if (all.length > 0) throw new SettleStartupError([...new Set(all)]);
    this.#warnOfUnused(explored.unused);
    this.#warnOfRequestScope(planned);
    if (resolved.defaults.onError === undefined) this.#warnOfErrorBehavior(planned);
    return { planned, interceptors };
  }

  #moduleFaults(): string[] {
    const modules = [...this.container.values()].filter(({ providers }) =>
      providers.has(SubscriptionPlanner),
    );
    return modules.length > 1 ? [texts.moduleTwice] : [];
  }

  #warnOfUnused(classes: readonly string[]): void {
    if (classes.length === 0) return;
    writeLine(this.logger, 'unused-handlers', texts.unusedHandlers(classes));
  }

  #warnOfErrorBehavior(planned: readonly PlannedSubscription[]): void {
    for (const connection of new Set(planned.map((plan) => plan.connection))) {
      const { name, ignoredErrorBehavior: behavior } = connection;
      if (behavior === undefined) continue;
      writeLine(this.logger, 'ignored-option', texts.ignoredErrorBehavior(name, behavior));
    }
  }

  #warnOfRequestScope(planned: readonly PlannedSubscription[]): void {
    if (planned.every(({ subscription }) => subscription.requestScope)) return;
    const skipped = this.enhancers.requestScoped().map(({ name }) => name);
    if (skipped.length === 0) return;
    writeLine(this.logger, 'request-scoped-enhancers', texts.requestScopedEnhancers(skipped));
  }

  #planAll(
    handlers: readonly HandlerMethod[],
    defaults: SubscribeDefaults,
  ): { readonly planned: readonly PlannedSubscription[]; readonly faults: readonly string[] } {
    const connections = this.connections();
    const planned: PlannedSubscription[] = [];
    const faults: string[] = [];
    for (const handler of handlers) {
      faults.push(...parameterFaults(handler), ...controllerFaults(handler));
      const joined = joinOptions(handler.label, handler.options);
      faults.push(...joined.faults);
      for (const options of joined.groups) {
        const base = effectiveSubscription(this.modules, handler, options, defaults);
        const connection = connectionFor(base, connections, faults);
        if (connection === undefined) continue;
        const plan = { handler, subscription: base, connection };
        planned.push(...this.#resolve(plan, options, defaults, faults));
      }
    }
    return { planned, faults: [...faults, ...conflictsIn(planned)] };
  }

  // The entries of golevelup's `handlers` override the decorator's options, and a test's override of the
  // subscription overrides both.
  #resolve(
    plan: PlannedSubscription,
    options: SubscribeOptions,
    defaults: SubscribeDefaults,
    faults: string[],
  ): PlannedSubscription[] {
    const { handler, connection, subscription: base } = plan;
    const lookup = base.options.name ?? connection.defaultHandler;
    if (lookup === undefined) {
      faults.push(...subscriptionFaults(plan));
      return [plan];
    }
    const entries = connection.handlerOptions(lookup);
    if (entries === undefined) {
      faults.push(texts.missingHandlerOptions(handler.label, lookup, connection.name));
      return [];
    }
    return entries.map((entry) => {
      const all: SubscribeOptions = { ...entry, name: lookup };
      const subscription = effectiveSubscription(this.modules, handler, options, defaults, all);
      const named = { handler, subscription, connection };
      faults.push(...subscriptionFaults(named));
      return named;
    });
  }
}

function subscriptionFaults({ handler, subscription, connection }: PlannedSubscription): string[] {
  return [
    ...faultsOf(subscription),
    ...scopeFaults(handler, subscription),
    ...schemaFaults(subscription),
    ...routingFaults(subscription, connection),
    ...limitFaults(subscription, connection),
  ];
}
