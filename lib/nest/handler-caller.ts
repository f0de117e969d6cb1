import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import {
  EXCEPTION_FILTERS_METADATA,
  PARAMTYPES_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants';
import { ExternalContextCreator } from '@nestjs/core';
import type { SubscribeOptions } from '../model/options';
import type { CallBatch } from '../pipeline/batch';
import type { CallHandler } from '../pipeline/call';
import { invoke, type PipePayload, payloadsOf, pipeOf } from './calls';
import { EnhancerFinder, type Enhancers, hasEnhancers, withoutModuleCheck } from './enhancers';
import type { HandlerMethod } from './explorer';
import { CONTEXT_TYPE, markAsRabbitHandler } from './golevelup-metadata';
import { type CallArguments, runBody } from './invocation';
import {
  hasDecoratedParameters,
  hasUndecoratedPayload,
  parametersOf,
  parameterTypes,
  parameterValues,
} from './parameters';

type Method = (...args: readonly unknown[]) => unknown;

const ALL_OFF = { guards: false, interceptors: false, filters: false };

/**
 * Builds the call of a handler. If no enhancer applies and no parameter is decorated, the method is called
 * directly: Nest's way through its interceptors costs more than all the rest of a delivery.
 */
@Injectable()
export class HandlerCaller {
  #made = 0;

  constructor(
    private readonly contexts: ExternalContextCreator,
    private readonly finder: EnhancerFinder,
  ) {}

  /** @param options of the subscription; guards and interceptors find them as golevelup's metadata. */
  callOf(handler: HandlerMethod, options: SubscribeOptions): CallHandler {
    const enhancers = this.finder.of(handler);
    const { instance, method } = handler;
    if (hasEnhancers(enhancers) || hasDecoratedParameters(handler)) {
      return this.#callThroughNest(handler, options, enhancers);
    }
    // Looked up at each call, so that a test's spy on the instance takes effect.
    const host = instance as Record<string, Method>;
    return (delivery) =>
      host[method]?.(delivery.payload, delivery.message, delivery.headers, delivery);
  }

  /** The call of a method that handles batches, and the pipes of one payload, if there are any. */
  batchCallOf(
    handler: HandlerMethod,
    options: SubscribeOptions,
  ): { readonly call: CallBatch; readonly pipe: PipePayload | undefined } {
    const enhancers = this.finder.of(handler);
    const { instance, method } = handler;
    const fill = this.#argumentsOf(handler, enhancers);
    const host = instance as Record<string, Method>;
    const around = { ...enhancers, pipes: [] };
    const call: CallBatch = hasEnhancers(around)
      ? this.#batchThroughNest(handler, options, around)
      : (batch) => host[method]?.(payloadsOf(batch), batch);
    return { call, pipe: fill && pipeOf(fill, enhancers) };
  }

  /** The names of global pipes that apply to a payload without any decorator that would tell so. */
  pipesOnUndecoratedPayload(handler: HandlerMethod): readonly string[] {
    return hasUndecoratedPayload(handler) ? this.finder.globalPipes() : [];
  }

  #callThroughNest(
    handler: HandlerMethod,
    options: SubscribeOptions,
    enhancers: Enhancers,
  ): CallHandler {
    const call = this.#chainOf(handler, options, enhancers, this.#argumentsOf(handler, enhancers));
    return (delivery) => {
      const { payload, message, headers } = delivery;
      return invoke(enhancers, (invocation) =>
        call(payload, message, headers, delivery, invocation),
      );
    };
  }

  // Guards and interceptors run once; their arguments are those of the method.
  #batchThroughNest(
    handler: HandlerMethod,
    options: SubscribeOptions,
    enhancers: Enhancers,
  ): CallBatch {
    const call = this.#chainOf(handler, options, enhancers, (...all) => all.slice(0, 2));
    return (batch) => {
      const all = {
        captureContext: (): void => {
          for (const delivery of batch) delivery.captureContext();
        },
      };
      return invoke(enhancers, (invocation) =>
        call(payloadsOf(batch), batch, undefined, all, invocation),
      );
    };
  }

  // Filters run in a context of their own around everything else, so that what was thrown is known before one
  // of them turns it into something else.
  #chainOf(
    handler: HandlerMethod,
    options: SubscribeOptions,
    enhancers: Enhancers,
    resolveArguments: Method | undefined,
  ): Method {
    const { instance, method } = handler;
    const body: Method = (...all) => {
      const [, , , delivery, invocation] = all as unknown as CallArguments;
      delivery.captureContext(); // That of guards and interceptors.
      const enter = (args: readonly unknown[]): unknown =>
        runBody(invocation, () => (instance as Record<string, Method>)[method]?.(...args));
      if (resolveArguments === undefined) return enter(all.slice(0, 4));
      return Promise.resolve(resolveArguments(...all)).then(
        (args) => enter(args as unknown[]),
        (error: unknown) => {
          invocation.refused = { error };
          throw error;
        },
      );
    };
    const inner = this.#context(handler, body, {
      guards: true,
      interceptors: true,
      filters: false,
    });
    markAsRabbitHandler(body, options);
    if (enhancers.filters.length === 0) return inner;
    const noting: Method = async (...all) => {
      try {
        return await inner(...all);
      } catch (error) {
        (all as unknown as CallArguments)[4].raised = { error };
        throw error;
      }
    };
    return this.#context(handler, noting, { ...ALL_OFF, filters: true });
  }

  #context(handler: HandlerMethod, callback: Method, options: typeof ALL_OFF): Method {
    copyMetadata(handler, callback);
    return this.contexts.create(
      handler.instance as never,
      callback as never,
      this.#freshName(handler),
      undefined,
      undefined,
      undefined,
      undefined,
      options,
      CONTEXT_TYPE as never,
    );
  }

  /**
   * Resolves the parameters and runs their pipes; `undefined` if the handler takes the four values as they are.
   * Nest stores parameters by class name and method name, so that classes of the same name, or golevelup's own
   * handlers, would share them: each call has a name of its own.
   */
  #argumentsOf(handler: HandlerMethod, enhancers: Enhancers): Method | undefined {
    const isDecorated = hasDecoratedParameters(handler);
    if (!isDecorated && enhancers.pipes.length === 0) return undefined;
    const name = this.#freshName(handler);
    const { instance, type, method, id } = handler;
    Reflect.defineMetadata(ROUTE_ARGS_METADATA, parametersOf(handler), type, name);
    Reflect.defineMetadata(PARAMTYPES_METADATA, parameterTypes(handler), type.prototype, name);
    const host = Object.create(instance, { [name]: { value: Reflect.get(instance, method) } });
    const collect: Method = (...args) => args;
    copyMetadata(handler, collect);
    const fill = this.contexts.create(
      host,
      collect as never,
      name,
      ROUTE_ARGS_METADATA,
      parameterValues,
      undefined,
      id,
      ALL_OFF,
      CONTEXT_TYPE as never,
    ) as Method;
    if (isDecorated) return fill;
    return async (...all) => [...((await fill(...all)) as unknown[]), ...all.slice(1, 4)];
  }

  #freshName({ method }: HandlerMethod): string {
    this.#made += 1;
    return `${method}:settle:${this.#made}`;
  }
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
