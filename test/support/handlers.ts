import { Injectable, type Type } from '@nestjs/common';
import { type Delivery, Subscribe, type SubscribeOptions } from '../../lib';

/** The body of a handler under test. */
export type Body = (payload: never, delivery: Delivery) => unknown;

/** The options of a subscription whose messages are acknowledged; unlike those of all, they can be spread. */
export type AcknowledgedOptions = Extract<SubscribeOptions, { readonly noAck?: false }>;

/** A new provider with one subscription, whose method `handle` runs a body. */
export function handlerOf(
  options: SubscribeOptions,
  body: Body,
): Type<{ handle(...args: unknown[]): void }> {
  @Injectable()
  class Handler {
    @Subscribe(options)
    handle(payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery): void {
      return body(payload as never, delivery) as never;
    }
  }
  return Handler as never;
}
