import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper';
import { texts } from '../log/texts';
import type { SubscribeOptions } from '../model/options';
import { classNames, subscribeOptionsOf } from '../subscribe/decorated-classes';
import type { HandlerClass } from '../subscribe/token';
import { type GolevelupHandler, golevelupHandlersOf } from './golevelup-handlers';

/** One decorated method of one provider or controller of this application. */
export interface HandlerMethod {
  readonly instance: object;
  readonly type: HandlerClass;
  readonly method: string;
  /** The class and method, as log lines name them. */
  readonly label: string;
  readonly options: readonly SubscribeOptions[];
  readonly isController: boolean;
  /** The id of the provider in Nest's container. */
  readonly id: string;
}

/** What the container of an application holds. */
export interface Explored {
  readonly handlers: readonly HandlerMethod[];
  /** The handlers of golevelup's own decorators. */
  readonly golevelupHandlers: readonly GolevelupHandler[];
  /** The names of classes with handlers that no module provides. */
  readonly unused: readonly string[];
  /** Faults of the providers of handlers, a line each. */
  readonly faults: readonly string[];
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
    const faults: string[] = [];
    const seen = new Set<object>();
    const explore = (wrapper: InstanceWrapper, isController: boolean): void => {
      const prototype = prototypeOf(wrapper);
      if (prototype === undefined || wrapper.isAlias) return;
      for (const method of this.scanner.getAllMethodNames(prototype)) {
        const options = subscribeOptionsOf(prototype, method);
        if (options === undefined) continue;
        const type = prototype.constructor as HandlerClass;
        const label = `${type.name}.${method}`;
        const scope = scopeFault(wrapper);
        if (scope !== undefined) {
          faults.push(texts.unusableScope(label, scope));
          continue;
        }
        const instance = wrapper.instance as object;
        if (
          seen.has(instance) &&
          handlers.some((one) => one.instance === instance && one.method === method)
        ) {
          continue;
        }
        seen.add(instance);
        handlers.push({ instance, type, method, label, options, isController, id: wrapper.id });
      }
    };
    const providers = this.discovery.getProviders();
    const controllers = this.discovery.getControllers();
    for (const wrapper of providers) explore(wrapper, false);
    for (const wrapper of controllers) explore(wrapper, true);
    const unused = classNames([...providers, ...controllers], false);
    const golevelupHandlers = golevelupHandlersOf(this.discovery, this.scanner);
    return { handlers, golevelupHandlers, unused, faults };
  }
}

function prototypeOf({ instance, metatype, isNotMetatype }: InstanceWrapper): object | undefined {
  // A request-scoped provider's instance is a bare object made from its prototype.
  if (typeof instance === 'object' && instance !== null) {
    return Object.getPrototypeOf(instance) ?? undefined;
  }
  const isClass = !isNotMetatype && typeof metatype === 'function';
  return isClass ? (metatype.prototype as object | undefined) : undefined;
}

function scopeFault(wrapper: InstanceWrapper): string | undefined {
  if (wrapper.isTransient) return 'transient';
  return wrapper.isDependencyTreeStatic()
    ? undefined
    : 'request-scoped, itself or by what it injects';
}
