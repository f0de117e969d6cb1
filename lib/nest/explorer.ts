import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper';
import type { SubscribeOptions } from '../model/options';
import { classNames, subscribeOptionsOf } from '../subscribe/decorated-classes';
import type { HandlerClass } from '../subscribe/token';
import { type GolevelupHandler, golevelupHandlersOf } from './golevelup-handlers';

/** One decorated method of one provider or controller of this application. */
export interface HandlerMethod {
  /** The singleton, or, for a provider of another scope, an object of the class without a constructor's work. */
  readonly instance: object;
  readonly type: HandlerClass;
  readonly method: string;
  /** The class and method, as log lines name them. */
  readonly label: string;
  readonly options: readonly SubscribeOptions[];
  readonly isController: boolean;
  /** The provider in Nest's container. */
  readonly provider: InstanceWrapper;
}

/** What the container of an application holds. */
export interface Explored {
  readonly handlers: readonly HandlerMethod[];
  /** The handlers of golevelup's own decorators. */
  readonly golevelupHandlers: readonly GolevelupHandler[];
  /** The names of classes with handlers that no module provides. */
  readonly unused: readonly string[];
}

/** Finds the decorated methods of the application, without side effects: no getter is read. */
@Injectable()
export class SubscriptionExplorer {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  explore(): Explored {
    const handlers: HandlerMethod[] = [];
    const seen = new Set<object>();
    const explore = (wrapper: InstanceWrapper, isController: boolean): void => {
      const prototype = prototypeOf(wrapper);
      if (prototype === undefined || wrapper.isAlias) return;
      for (const method of this.scanner.getAllMethodNames(prototype)) {
        const options = subscribeOptionsOf(prototype, method);
        if (options === undefined) continue;
        const type = prototype.constructor as HandlerClass;
        const label = `${type.name}.${method}`;
        const instance: object = wrapper.instance ?? Object.create(prototype);
        if (
          seen.has(instance) &&
          handlers.some((one) => one.instance === instance && one.method === method)
        ) {
          continue;
        }
        seen.add(instance);
        handlers.push({ instance, type, method, label, options, isController, provider: wrapper });
      }
    };
    const providers = this.discovery.getProviders();
    const controllers = this.discovery.getControllers();
    for (const wrapper of providers) explore(wrapper, false);
    for (const wrapper of controllers) explore(wrapper, true);
    const unused = classNames([...providers, ...controllers], false);
    const golevelupHandlers = golevelupHandlersOf(this.discovery, this.scanner);
    return { handlers, golevelupHandlers, unused };
  }
}

function prototypeOf(wrapper: InstanceWrapper): object | undefined {
  const { instance, metatype, isNotMetatype, token } = wrapper;
  // A request-scoped provider's instance is a bare object made from its prototype.
  if (typeof instance === 'object' && instance !== null) {
    return Object.getPrototypeOf(instance) ?? undefined;
  }
  // What a request-scoped factory makes is known by its token only.
  if (isNotMetatype && wrapper.isDependencyTreeStatic()) return undefined;
  const type = isNotMetatype ? token : metatype;
  return typeof type === 'function' ? (type.prototype as object | undefined) : undefined;
}
