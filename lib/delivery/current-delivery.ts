import { AsyncLocalStorage } from 'node:async_hooks';
import type { Delivery } from '../model/delivery';

const current = new AsyncLocalStorage<Delivery | undefined>();

/**
 * The delivery that is being handled, in everything that its interceptors, its handler, its policies and its
 * `andAfter` callbacks call or await, also after its timeout. `undefined` outside of a delivery, in batch
 * handlers, and without `context: true` in the options of `SettleModule`.
 * @example
 * const tenant = currentDelivery()?.headers['tenant'];
 * @publicApi
 */
export function currentDelivery(): Delivery | undefined {
  return current.getStore();
}

/** Runs something, and what it starts, with a delivery as the current one, or with none. */
export function runAsCurrent<T>(delivery: Delivery | undefined, work: () => T): T {
  return current.run(delivery, work);
}
