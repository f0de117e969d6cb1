// Checked by the compiler only: each line marked as an error has to be one.
import { RabbitHeader, RabbitPayload } from '@golevelup/nestjs-rabbitmq';
import { type } from 'arktype';
import { IsInt } from 'class-validator';
import * as v from 'valibot';
import { z } from 'zod';
import {
  type HandlerDecorator,
  type PayloadOf,
  type PayloadSchema,
  Subscribe,
  type SubscribeOptions,
} from '../../lib';

const withZod = z.object({ id: z.string(), paidAt: z.coerce.date() });
const withValibot = v.object({ id: v.string(), paidAt: v.pipe(v.string(), v.toDate()) });
const withArkType = type({ id: 'string', paidAt: 'string.date.parse' });

class OrderDto {
  @IsInt()
  id!: number;
}

interface Order {
  id: string;
  paidAt: Date;
}

export class WhatHandlersTake {
  @Subscribe({ queue: 'q', schema: withZod })
  zod(_order: Order): void {}

  @Subscribe({ queue: 'q', schema: withValibot })
  valibot(_order: Order): void {}

  @Subscribe({ queue: 'q', schema: withArkType })
  arkType(_order: Order): void {}

  @Subscribe({ queue: 'q', schema: OrderDto, retry: { attempts: 3 } })
  dto(_order: OrderDto): void {}

  @Subscribe({ queue: 'q', schema: withZod })
  inferred(
    @RabbitPayload() _order: z.output<typeof withZod>,
    @RabbitHeader('x') _x: string,
  ): void {}

  @Subscribe({ queue: 'q', schema: withZod })
  wider(_order: { id: string }): void {}

  @Subscribe({ queue: 'q', schema: withZod })
  nothing(): void {}

  @Subscribe({ queue: 'q', schema: withZod })
  unknown(_order: unknown): void {}

  @Subscribe({ queue: 'q', schema: withZod })
  optional(_order?: Order): void {}

  @Subscribe({ queue: 'q', schema: z.unknown() })
  unchecked(_order: Order): void {}

  // @ts-expect-error The schema gives a date.
  @Subscribe({ queue: 'q', schema: withZod })
  wrongZod(_order: { id: string; paidAt: string }): void {}

  // @ts-expect-error The schema gives a date.
  @Subscribe({ queue: 'q', schema: withValibot })
  wrongValibot(_order: { id: string; paidAt: string }): void {}

  // @ts-expect-error The schema gives a date.
  @Subscribe({ queue: 'q', schema: withArkType })
  wrongArkType(_order: { id: string; paidAt: string }): void {}

  // @ts-expect-error The id of the class is a number.
  @Subscribe({ queue: 'q', schema: OrderDto })
  wrongDto(_order: { id: string }): void {}

  // @ts-expect-error A result that is not an outcome is refused beside a schema, too.
  @Subscribe({ queue: 'q', schema: withZod })
  wrongResult(_order: Order): number {
    return 1;
  }
}

// @ts-expect-error An object of types is not a schema.
Subscribe({ queue: 'q', schema: { id: String } });

// @ts-expect-error A size has a unit.
Subscribe({ queue: 'q', decompress: { max: '16' } });

/** A decorator of an application that takes any options. */
export const Orders = (options: SubscribeOptions): HandlerDecorator => Subscribe(options);

/** A decorator of an application that takes a schema. */
export const Payments = <S extends PayloadSchema>(schema: S): HandlerDecorator<PayloadOf<S>> =>
  Subscribe({ queue: 'payments', schema });

export class WhatWrappersTake {
  @Orders({ queue: 'q' })
  orders(_order: Order): void {}

  @Payments(withZod)
  payments(_order: Order): void {}

  // @ts-expect-error The schema gives an object.
  @Payments(withZod)
  wrong(_order: string): void {}
}
