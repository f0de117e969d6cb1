import 'reflect-metadata';
import { assignMetadata } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import type { Delivery as DeliveryOf } from '../model/delivery';

/**
 * The number of this kind of parameter. Nest and golevelup number theirs from 0, and Nest uses 3 for the
 * body of a request, which a global ValidationPipe validates.
 */
export const DELIVERY_PARAMETER = 7_301;

/**
 * Injects the delivery into a parameter of a `@Subscribe` method. The type of the same name describes it.
 * @example
 * async charge(order: Order, @Delivery() delivery: Delivery): Promise<void> {}
 * @publicApi
 */
export function Delivery(): ParameterDecorator {
  return (target, key, index) => {
    if (key === undefined) return;
    const before = Reflect.getMetadata(ROUTE_ARGS_METADATA, target.constructor, key) ?? {};
    const after = assignMetadata(before, DELIVERY_PARAMETER as never, index);
    Reflect.defineMetadata(ROUTE_ARGS_METADATA, after, target.constructor, key);
  };
}

/** @publicApi */
export type Delivery<T = unknown> = DeliveryOf<T>;
