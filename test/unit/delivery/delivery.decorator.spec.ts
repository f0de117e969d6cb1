import 'reflect-metadata';
import { RabbitHeader, RabbitPayload } from '@golevelup/nestjs-rabbitmq';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { describe, expect, it } from 'vitest';
import { DELIVERY_PARAMETER, Delivery } from '../../../lib/delivery/delivery.decorator';

function parametersOf(type: object, method: string): Record<string, { readonly index: number }> {
  return Reflect.getMetadata(ROUTE_ARGS_METADATA, type, method) ?? {};
}

describe('@Delivery()', () => {
  it('marks its parameter next to those of other decorators', () => {
    class Billing {
      charge(
        @RabbitPayload() _order: unknown,
        @Delivery() _delivery: Delivery,
        @RabbitHeader('tenant') _tenant: string,
      ): void {}
    }
    const parameters = parametersOf(Billing, 'charge');
    expect(parameters[`${DELIVERY_PARAMETER}:1`]).toMatchObject({ index: 1 });
    expect(Object.values(parameters).map(({ index }) => index)).toHaveLength(3);
  });

  it('marks several parameters and methods independently', () => {
    class Billing {
      charge(@Delivery() _one: Delivery, @Delivery() _other: Delivery): void {}
      refund(@Delivery() _delivery: Delivery): void {}
      audit(_payload: unknown): void {}
    }
    expect(Object.keys(parametersOf(Billing, 'charge'))).toHaveLength(2);
    expect(Object.keys(parametersOf(Billing, 'refund'))).toHaveLength(1);
    expect(parametersOf(Billing, 'audit')).toEqual({});
  });

  it('leaves the parameters of a base class unchanged', () => {
    class Base {
      charge(@Delivery() _delivery: Delivery): void {}
    }
    class Billing extends Base {
      override charge(_delivery: Delivery, @Delivery() _other?: Delivery): void {}
    }
    expect(Object.values(parametersOf(Base, 'charge')).map(({ index }) => index)).toEqual([0]);
    expect(parametersOf(Billing, 'charge')[`${DELIVERY_PARAMETER}:1`]).toBeDefined();
  });

  it("uses a parameter type of its own, unlike Nest's and golevelup's", () => {
    expect(DELIVERY_PARAMETER).toBeGreaterThan(1_000);
  });

  it('ignores constructor parameters', () => {
    class Billing {
      constructor(@Delivery() readonly delivery: unknown) {}
    }
    // There the decorator's target is the class, whose constructor is Function.
    for (const type of [Billing, Function]) {
      expect(Reflect.getMetadataKeys(type)).not.toContain(ROUTE_ARGS_METADATA);
    }
  });
});
