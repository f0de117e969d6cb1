import { Inject, Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { BrokerConnection } from '../broker/connection';
import { messages } from '../outcome/messages';
import { joinOptions } from '../subscription/bindings';
import { faultsOf } from '../subscription/normalize';
import type { SubscribeOptions } from '../subscription/options';
import type { Subscription } from '../subscription/subscription';
import { controllerFaults } from './enhancers';
import type { Handler } from './explorer';
import type { SettleTerms } from './module-options';
import { parameterFaults } from './parameters';
import { effectiveSubscription } from './subscription-providers';
import { TERMS } from './tokens';

/** One subscription that is to consume: where, by whom, and on which connection. */
export interface Planned {
  readonly handler: Handler;
  readonly subscription: Subscription;
  readonly connection: BrokerConnection;
}

/** Turns handlers into subscriptions on connections, and finds what is wrong before anything starts. */
@Injectable()
export class Planner {
  constructor(
    @Inject(TERMS) private readonly terms: SettleTerms,
    private readonly modules: ModuleRef,
  ) {}

  plan(
    handlers: readonly Handler[],
    connections: readonly BrokerConnection[],
  ): { readonly planned: readonly Planned[]; readonly faults: readonly string[] } {
    const planned: Planned[] = [];
    const faults: string[] = [];
    for (const handler of handlers) {
      faults.push(...parameterFaults(handler), ...controllerFaults(handler));
      const joined = joinOptions(handler.label, handler.options);
      faults.push(...joined.faults);
      for (const options of joined.groups) {
        const base = effectiveSubscription(this.modules, handler, options, this.terms.defaults);
        const connection = connectionFor(base, connections, faults);
        if (connection === undefined) continue;
        planned.push(...this.#resolve(handler, options, base, connection, faults));
      }
    }
    return { planned, faults: [...faults, ...conflictsIn(planned)] };
  }

  // What golevelup's connection holds under a handler's name goes over the decorator's options, and what
  // a test lays over the subscription goes over both.
  #resolve(
    handler: Handler,
    options: SubscribeOptions,
    base: Subscription,
    connection: BrokerConnection,
    faults: string[],
  ): Planned[] {
    const lookup = base.options.name ?? connection.defaultHandler;
    if (lookup === undefined) {
      faults.push(...faultsOf(base), ...routingFaults(base, connection));
      return [{ handler, subscription: base, connection }];
    }
    const entries = connection.handlerOptions(lookup);
    if (entries === undefined) {
      faults.push(messages.missingHandlerOptions(handler.label, lookup, connection.name));
      return [];
    }
    return entries.map((entry) => {
      const named: SubscribeOptions = { ...entry, name: lookup };
      const subscription = effectiveSubscription(
        this.modules,
        handler,
        options,
        this.terms.defaults,
        named,
      );
      faults.push(...faultsOf(subscription), ...routingFaults(subscription, connection));
      return { handler, subscription, connection };
    });
  }
}

function connectionFor(
  { handler, connection: wanted }: Subscription,
  connections: readonly BrokerConnection[],
  faults: string[],
): BrokerConnection | undefined {
  const names = connections.map(({ name }) => name);
  if (wanted === undefined && connections.length === 1) return connections[0];
  const found = connections.find(({ name }) => name === wanted);
  if (found === undefined) faults.push(messages.noConnectionFor(handler, wanted, names));
  return found;
}

// An absent key binds to the empty one, which on these exchanges only matches the empty key.
function routingFaults(
  { handler, bindings }: Subscription,
  connection: BrokerConnection,
): string[] {
  return bindings
    .filter(({ routingKey }) => routingKey === undefined)
    .filter(({ exchange }) => /^(direct|topic)$/.test(connection.exchangeTypeOf(exchange) ?? ''))
    .map(({ exchange }) => messages.missingRoutingKey(handler, exchange));
}

function conflictsIn(planned: readonly Planned[]): string[] {
  const faults: string[] = [];
  planned.forEach((one, index) => {
    for (const other of planned.slice(0, index)) {
      if (one.connection !== other.connection) continue;
      const { queue } = one.subscription;
      const labels = [other.handler.label, one.handler.label] as const;
      if (queue !== undefined && queue === other.subscription.queue) {
        faults.push(messages.sharedQueue(...labels, queue));
      }
      const tag = one.subscription.queueOptions.consumerOptions?.consumerTag;
      const isSame = tag === other.subscription.queueOptions.consumerOptions?.consumerTag;
      if (tag && isSame) faults.push(messages.sharedConsumerTag(...labels, tag));
    }
  });
  return faults;
}
