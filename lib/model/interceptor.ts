import type { Type } from '@nestjs/common';
import type { Delivery } from './delivery';
import type { Outcome } from './outcome';

/**
 * One link of the chain around every handler: it calls `next` once, or not at all, and resolves with the
 * outcome that is to count. Interceptors see outcomes only; failures have become outcomes further in. In a
 * batch they surround each message: the method is called once all messages have called `next`.
 * @example
 * const timed: DeliveryInterceptor = async (delivery, next) => {
 *   const end = histogram.startTimer({ handler: delivery.subscription.handler });
 *   try {
 *     return await next();
 *   } finally {
 *     end();
 *   }
 * };
 * @publicApi
 */
export type DeliveryInterceptor<D = Delivery> = (
  delivery: D,
  next: () => Promise<Outcome>,
) => Promise<Outcome>;

/**
 * A provider that intercepts deliveries; its class goes into `interceptors` of `SettleModule` and Nest
 * resolves it, dependencies included. A singleton.
 * @example
 * @Injectable()
 * class Audit implements InjectableDeliveryInterceptor {
 *   constructor(private readonly store: AuditStore) {}
 *
 *   async intercept(delivery: Delivery, next: () => Promise<Outcome>): Promise<Outcome> {
 *     const outcome = await next();
 *     await this.store.add(delivery.messageId, outcome.kind);
 *     return outcome;
 *   }
 * }
 * @publicApi
 */
export interface InjectableDeliveryInterceptor {
  intercept(delivery: Delivery, next: () => Promise<Outcome>): Promise<Outcome>;
}

/** What `interceptors` takes: a function, or the class of a provider. */
export type DeliveryInterceptorOption = DeliveryInterceptor | Type<InjectableDeliveryInterceptor>;
