import { Injectable } from '@nestjs/common';
import { ExternalContextCreator } from '@nestjs/core';
import { isObservable } from 'rxjs';
import type { DeliveryRecord } from '../delivery/delivery-record';
import type { SubscribeOptions } from '../model/options';
import type { CallBatch } from '../pipeline/batch';
import { type CallHandler, lastValueOf } from '../pipeline/call';
import { invoke, type PipePayload, payloadsOf, pipeOf } from './calls';
import { EnhancerFinder, type Enhancers, hasEnhancers } from './enhancers';
import type { HandlerMethod } from './explorer';
import { HandlerContexts, type Method } from './handler-contexts';
import { hasDecoratedParameters, hasUndecoratedPayload } from './parameters';
import { RequestScope } from './request-scope';

/** Calls the method of an instance, inside of Nest's context. */
type CallInstance = (instance: object, delivery: DeliveryRecord) => unknown;

/**
 * Builds the call of a handler. If no enhancer applies and no parameter is decorated, the method is called
 * directly: Nest's way through its interceptors costs more than all the rest of a delivery.
 */
@Injectable()
export class HandlerCaller {
  constructor(
    private readonly contexts: ExternalContextCreator,
    private readonly finder: EnhancerFinder,
    private readonly scope: RequestScope,
  ) {}

  /**
   * @param options of the subscription; guards and interceptors find them as golevelup's metadata.
   * @param requestScope whether each delivery has its own request-scoped providers.
   */
  callOf(handler: HandlerMethod, options: SubscribeOptions, requestScope: boolean): CallHandler {
    const enhancers = this.finder.of(handler, requestScope);
    const isThroughNest = hasEnhancers(enhancers) || hasDecoratedParameters(handler);
    if (requestScope) return this.#scopedCallOf(handler, options, isThroughNest && enhancers);
    const { instance } = handler;
    if (isThroughNest) {
      const call = this.#throughNest(handler, options, enhancers)();
      return (delivery) => call(instance, delivery);
    }
    const call = directCallOf(handler);
    return (delivery) => call(instance, delivery);
  }

  /** The call of a method that handles batches, and the pipes of one payload, if there are any. */
  batchCallOf(
    handler: HandlerMethod,
    options: SubscribeOptions,
  ): { readonly call: CallBatch; readonly pipe: PipePayload | undefined } {
    const enhancers = this.finder.of(handler, false);
    const { instance, method } = handler;
    const fill = new HandlerContexts(this.contexts, handler, enhancers).argumentsOf()?.();
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

  #scopedCallOf(
    handler: HandlerMethod,
    options: SubscribeOptions,
    enhancers: Enhancers | false,
  ): CallHandler {
    const direct = directCallOf(handler);
    const callIn = enhancers && this.#throughNest(handler, options, enhancers);
    return (delivery) =>
      this.scope.run(handler, delivery, async (instance, contextId) => {
        const call = callIn ? callIn(contextId) : direct;
        const result = await call(instance, delivery);
        // The scope lasts as long as the handler works.
        return isObservable(result) ? lastValueOf(result) : result;
      });
  }

  #throughNest(
    handler: HandlerMethod,
    options: SubscribeOptions,
    enhancers: Enhancers,
  ): (...context: Parameters<ReturnType<HandlerContexts['chainOf']>>) => CallInstance {
    const contexts = new HandlerContexts(this.contexts, handler, enhancers);
    const chainIn = contexts.chainOf(options, contexts.argumentsOf());
    return (contextId) => {
      const call = chainIn(contextId);
      return (instance, delivery) => {
        const { payload, message, headers } = delivery;
        return invoke(instance, enhancers, (invocation) =>
          call(payload, message, headers, delivery, invocation),
        );
      };
    };
  }

  // Guards and interceptors run once; their arguments are those of the method.
  #batchThroughNest(
    handler: HandlerMethod,
    options: SubscribeOptions,
    enhancers: Enhancers,
  ): CallBatch {
    const contexts = new HandlerContexts(this.contexts, handler, enhancers);
    const call = contexts.chainOf(
      options,
      () =>
        (...all) =>
          all.slice(0, 2),
    )();
    return (batch) => {
      const all = {
        captureContext: (): void => {
          for (const delivery of batch) delivery.captureContext();
        },
      };
      return invoke(handler.instance, enhancers, (invocation) =>
        call(payloadsOf(batch), batch, undefined, all, invocation),
      );
    };
  }
}

// Looked up at each call, so that a test's spy on the instance takes effect.
function directCallOf({ method }: HandlerMethod): CallInstance {
  return (instance, delivery) =>
    (instance as Record<string, Method>)[method]?.(
      delivery.payload,
      delivery.message,
      delivery.headers,
      delivery,
    );
}
