import 'reflect-metadata';
import {
  EXCEPTION_FILTERS_METADATA,
  PARAMTYPES_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants';
import type { ContextId, ExternalContextCreator } from '@nestjs/core';
import type { SubscribeOptions } from '../model/options';
import { type Enhancers, withoutModuleCheck } from './enhancers';
import type { HandlerMethod } from './explorer';
import { CONTEXT_TYPE, markAsRabbitHandler } from './golevelup-metadata';
import { type CallArguments, runBody } from './invocation';
import {
  hasDecoratedParameters,
  parametersOf,
  parameterTypes,
  parameterValues,
} from './parameters';

/** A method of a handler, or what runs around it. */
export type Method = (...args: readonly unknown[]) => unknown;

const ALL_OFF = { guards: false, interceptors: false, filters: false };

let made = 0;

/**
 * Nest's contexts of one handler: guards, interceptors and filters around it, and its parameters with their pipes.
 * Nest caches for ever, by class name and method name, what is known of the parameters, and with it the first
 * instance: each handler has names of its own, and the instance of a delivery is part of the call.
 */
export class HandlerContexts {
  readonly #names: { readonly [part in 'around' | 'filters' | 'parameters']: string };

  constructor(
    private readonly creator: ExternalContextCreator,
    private readonly handler: HandlerMethod,
    private readonly enhancers: Enhancers,
  ) {
    const { method } = handler;
    made += 1;
    const name = `${method}:settle:${made}`;
    this.#names = { around: name, filters: `${name}:filters`, parameters: `${name}:parameters` };
  }

  /**
   * A function that makes the call: guards, interceptors, arguments, the method.
   * Filters run in a context of their own around everything else, so that what was thrown is known before one
   * of them turns it into something else.
   */
  chainOf(
    options: SubscribeOptions,
    resolveArguments: ((contextId?: ContextId) => Method) | undefined,
  ): (contextId?: ContextId) => Method {
    const { handler, enhancers } = this;
    return (contextId) => {
      const body = bodyOf(handler.method, resolveArguments?.(contextId));
      markAsRabbitHandler(body, options);
      const inner = this.#create(this.#names.around, body, contextId, {
        guards: true,
        interceptors: true,
        filters: false,
      });
      if (enhancers.filters.length === 0) return inner;
      const noting: Method = async (...all) => {
        try {
          return await inner(...all);
        } catch (error) {
          (all as unknown as CallArguments)[4].raised = { error };
          throw error;
        }
      };
      return this.#create(this.#names.filters, noting, contextId, { ...ALL_OFF, filters: true });
    };
  }

  /**
   * A function that resolves the parameters and runs their pipes; `undefined` if the handler takes the four values
   * as they are.
   */
  argumentsOf(): ((contextId?: ContextId) => Method) | undefined {
    const { handler, enhancers } = this;
    const isDecorated = hasDecoratedParameters(handler);
    if (!isDecorated && enhancers.pipes.length === 0) return undefined;
    const name = this.#names.parameters;
    const { instance, type, method, provider } = handler;
    Reflect.defineMetadata(ROUTE_ARGS_METADATA, parametersOf(handler), type, name);
    Reflect.defineMetadata(PARAMTYPES_METADATA, parameterTypes(handler), type.prototype, name);
    const host = Object.create(instance, { [name]: { value: Reflect.get(instance, method) } });
    const collect: Method = (...args) => args;
    copyMetadata(handler, collect);
    return (contextId) => {
      const fill = this.creator.create(
        host,
        collect as never,
        name,
        ROUTE_ARGS_METADATA,
        parameterValues,
        contextId,
        provider.id,
        ALL_OFF,
        CONTEXT_TYPE as never,
      ) as Method;
      if (isDecorated) return fill;
      return async (...all) => [...((await fill(...all)) as unknown[]), ...all.slice(1, 4)];
    };
  }

  #create(
    name: string,
    callback: Method,
    contextId: ContextId | undefined,
    options: typeof ALL_OFF,
  ): Method {
    const { handler } = this;
    copyMetadata(handler, callback);
    return this.creator.create(
      handler.instance as never,
      callback as never,
      name,
      undefined,
      undefined,
      contextId,
      // Scoped enhancers belong to the provider for which they were created.
      contextId && handler.provider.id,
      options,
      CONTEXT_TYPE as never,
    );
  }
}

function bodyOf(method: string, resolveArguments: Method | undefined): Method {
  return (...all) => {
    const [, , , delivery, invocation] = all as unknown as CallArguments;
    delivery.captureContext(); // That of guards and interceptors.
    const host = invocation.instance as Record<string, Method>;
    const enter = (args: readonly unknown[]): unknown =>
      runBody(invocation, () => host[method]?.(...args));
    if (resolveArguments === undefined) return enter(all.slice(0, 4));
    return Promise.resolve(resolveArguments(...all)).then(
      (args) => enter(args as unknown[]),
      (error: unknown) => {
        invocation.refused = { error };
        throw error;
      },
    );
  };
}

// Guards and interceptors read their metadata from the function that Nest is given.
function copyMetadata({ type, method }: HandlerMethod, target: Method): void {
  const source: unknown = type.prototype[method];
  if (typeof source !== 'function') return;
  for (const key of Reflect.getMetadataKeys(source)) {
    const value: unknown = Reflect.getMetadata(key, source);
    const isFilters = key === EXCEPTION_FILTERS_METADATA;
    Reflect.defineMetadata(key, isFilters ? withoutModuleCheck(value) : value, target);
  }
  Object.defineProperty(target, 'name', { value: method });
}
