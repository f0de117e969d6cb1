import { Injectable } from '@nestjs/common';
import { type ContextId, ContextIdFactory, ModuleRef } from '@nestjs/core';
import type { Injector } from '@nestjs/core/injector/injector';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper';
import { REQUEST_CONTEXT_ID } from '@nestjs/core/router/request/request-constants';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { texts } from '../log/texts';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { EnhancerFinder } from './enhancers';
import type { HandlerMethod } from './explorer';

/** Resolves request-scoped providers, one set for each delivery, which is their `REQUEST`. */
@Injectable()
export class RequestScope {
  constructor(
    private readonly modules: ModuleRef,
    private readonly finder: EnhancerFinder,
  ) {}

  /**
   * Runs something with the instance of a delivery. Nest keeps instances by their context id, weakly, and the
   * delivery has that while this runs: afterwards nothing holds them. Rejects with what a constructor or a factory
   * throws.
   */
  async run<T>(
    handler: HandlerMethod,
    delivery: DeliveryRecord,
    work: (instance: object, contextId: ContextId) => Promise<T>,
  ): Promise<T> {
    const { provider, instance } = handler;
    const contextId = ContextIdFactory.getByRequest(delivery);
    // So that ContextIdFactory.getByRequest(delivery) gives the same id to the application.
    Object.defineProperty(delivery, REQUEST_CONTEXT_ID, { value: contextId, configurable: true });
    try {
      this.modules.registerRequestByContextId(requestOf(delivery, contextId, provider), contextId);
      await this.#loadGlobalEnhancers(provider, contextId);
      const own = isSingleton(provider) ? instance : await this.#resolve(handler, contextId);
      // Timed out, lost with its channel, or to be requeued at shutdown.
      if (delivery.abortReason !== undefined) throw delivery.abortReason;
      return await work(own, contextId);
    } finally {
      Reflect.deleteProperty(delivery, REQUEST_CONTEXT_ID);
    }
  }

  async #resolve(
    { provider, instance, isController }: HandlerMethod,
    contextId: ContextId,
  ): Promise<object> {
    const { host } = provider;
    const resolved: unknown = await this.#injector.loadPerContext(
      instance,
      host as never,
      (isController ? host?.controllers : host?.providers) as never,
      contextId,
      provider as never,
    );
    return resolved as object;
  }

  // Nest itself does so for controllers only.
  async #loadGlobalEnhancers(provider: InstanceWrapper, contextId: ContextId): Promise<void> {
    for (const enhancer of this.finder.requestScoped()) {
      await this.#injector.loadInjectable(enhancer, enhancer.host as never, contextId, provider);
    }
  }

  // The one with the options of the application; protected.
  get #injector(): Injector {
    return Reflect.get(this.modules, 'injector') as Injector;
  }
}

/** A class with a scope that needs `requestScope`, a line each. */
export function scopeFaults(
  { provider, label }: HandlerMethod,
  { requestScope }: SubscriptionMetadata,
): string[] {
  if (requestScope || isSingleton(provider)) return [];
  return [texts.requestScopeExpected(label, provider.isTransient)];
}

function isSingleton(provider: InstanceWrapper): boolean {
  return !provider.isTransient && provider.isDependencyTreeStatic();
}

// Durable providers serve many deliveries: as in the rest of Nest, they see what the strategy has for them.
function requestOf(
  delivery: DeliveryRecord,
  contextId: ContextId,
  provider: InstanceWrapper,
): unknown {
  const isDurable = contextId.getParent !== undefined && provider.isDependencyTreeDurable();
  return isDurable ? contextId.payload : delivery;
}
