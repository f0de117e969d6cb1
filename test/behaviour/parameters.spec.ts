import { RabbitHeader, RabbitPayload, RabbitRequest } from '@golevelup/nestjs-rabbitmq';
import {
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  ParseIntPipe,
  type Type,
  ValidationPipe,
} from '@nestjs/common';
import { IsInt } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { Delivery, Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';

const Tenant = createParamDecorator((data: unknown, context: ExecutionContext) => {
  const [payload, , headers, delivery] = context.getArgs();
  return [data, headers['x-tenant'], payload.id, delivery.attempt];
});

class Order {
  @IsInt()
  id!: number;
}

describe('the parameters of a handler', async () => {
  const broker = await openBroker();

  it('are payload, message, headers and delivery without decorators', async () => {
    const queue = unique('plain');
    let seen: unknown[] = [];
    @Injectable()
    class Handler {
      @Subscribe({ queue })
      handle(...all: unknown[]): void {
        seen = all;
      }
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, { id: 1 }, { headers: { 'x-a': 'b' } });
    await app.settled(1);
    const [payload, message, headers, delivery, ...more] = seen;
    expect(payload).toEqual({ id: 1 });
    expect(message).toHaveProperty('fields.routingKey', queue);
    expect(headers).toEqual({ 'x-a': 'b' });
    expect(delivery).toMatchObject({ attempt: 1, queue, routingKey: queue, exchange: '' });
    expect(more).toEqual([]);
  });

  it('are filled by their decorators and pipes', async () => {
    const queue = unique('decorated');
    let seen: unknown[] = [];
    @Injectable()
    class Handler {
      @Subscribe({ queue })
      handle(
        @RabbitPayload() payload: unknown,
        @RabbitPayload('id', ParseIntPipe) id: number,
        @RabbitHeader() headers: unknown,
        @RabbitHeader('x-tenant') tenant: string,
        @RabbitRequest() message: unknown,
        @RabbitRequest('fields') fields: unknown,
        @Delivery() delivery: Delivery<{ id: string }>,
        @Tenant('data') made: unknown,
      ): void {
        seen = [payload, id, headers, tenant, message, fields, delivery, made];
      }
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, { id: '17' }, { headers: { 'x-tenant': 'acme' } });
    const [settlement] = await app.settled(1);
    expect(settlement?.error).toBeUndefined();
    const [payload, id, headers, tenant, message, fields, delivery, made] = seen;
    expect(payload).toEqual({ id: '17' });
    expect(id).toBe(17);
    expect(headers).toEqual({ 'x-tenant': 'acme' });
    expect(tenant).toBe('acme');
    expect(message).toHaveProperty('content');
    expect(fields).toHaveProperty('deliveryTag', 1);
    expect(delivery).toBe(settlement?.delivery);
    expect(made).toEqual(['data', 'acme', '17', 1]);
  });

  it('are inherited with the method', async () => {
    const queue = unique('inherited');
    let seen: unknown[] = [];
    abstract class Base {
      @Subscribe({ queue })
      handle(@Delivery() delivery: Delivery, @RabbitPayload('id') id: unknown): void {
        seen = [delivery.attempt, id];
      }
    }
    @Injectable()
    class Handler extends Base {}
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, { id: 3 });
    await app.settled(1);
    expect(seen).toEqual([1, 3]);
  });

  it('make the payload invalid if a pipe refuses a decorated one', async () => {
    const queue = unique('refused-parameter');
    @Injectable()
    class Handler {
      @Subscribe({ queue, deadLetter: `${queue}.dead` })
      handle(@RabbitPayload('id', ParseIntPipe) _id: number): void {}
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, { id: 'none' });
    const [settlement] = await app.settled(1);
    expect(settlement?.decision).toEqual({ kind: 'deadLetter', reason: 'invalid-payload' });
  });

  it('are undefined for a named field of a payload without fields, without a panic', async () => {
    const queue = unique('no-fields');
    const seen: unknown[] = [];
    @Injectable()
    class Handler {
      @Subscribe({ queue })
      handle(@RabbitPayload('id') id: unknown, @Delivery() delivery: Delivery): void {
        seen.push([id, delivery.payload]);
      }
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, null);
    await broker.send(queue, Buffer.alloc(0));
    await app.settled(2);
    expect(seen).toEqual([
      [undefined, null],
      [undefined, undefined],
    ]);
  });

  it('are not validated by a global ValidationPipe if they are delivery, headers or message', async () => {
    const queue = unique('validated');
    let seen: unknown[] = [];
    @Injectable()
    class Handler {
      @Subscribe({ queue })
      handle(
        @RabbitPayload() order: Order,
        @Delivery() delivery: Delivery,
        @RabbitHeader('x-tenant') tenant: string,
      ): void {
        seen = [order, delivery.attempt, tenant];
      }
    }
    const app = await startApp({
      providers: [Handler],
      prepare: (nest) =>
        nest.useGlobalPipes(new ValidationPipe({ transform: true, forbidUnknownValues: true })),
    });
    await broker.send(queue, { id: 1 }, { headers: { 'x-tenant': 'acme' } });
    await broker.send(queue, { id: 'x' });
    const settlements = await app.settled(2);
    expect(seen).toEqual([expect.any(Order), 1, 'acme']);
    // Acknowledgements wait for the end of their turn, rejects do not.
    expect(settlements.map(({ outcome }) => outcome.kind).sort()).toEqual(['ack', 'drop']);
  });

  it('are separate for two classes of the same name', async () => {
    const queue = unique('namesakes');
    const seen: Record<string, unknown> = {};
    function first(): Type<object> {
      @Injectable()
      class Same {
        @Subscribe({ queue: `${queue}.a` })
        handle(@RabbitPayload('a') a: unknown, @Delivery() delivery: Delivery): void {
          seen['a'] = [a, delivery.queue];
        }
      }
      return Same;
    }
    function second(): Type<object> {
      @Injectable()
      class Same {
        @Subscribe({ queue: `${queue}.b` })
        handle(@Delivery() delivery: Delivery, @RabbitHeader('b') b: unknown): void {
          seen['b'] = [delivery.queue, b];
        }
      }
      return Same;
    }
    const app = await startApp({ providers: [first(), second()] });
    await broker.send(`${queue}.a`, { a: 1 });
    await broker.send(`${queue}.b`, {}, { headers: { b: 2 } });
    await app.settled(2);
    expect(seen).toEqual({ a: [1, `${queue}.a`], b: [`${queue}.b`, 2] });
  });

  it('need decorators, except the first, if another one has a decorator', async () => {
    const queue = unique('undecorated');
    @Injectable()
    class Handler {
      @Subscribe({ queue })
      handle(_order: Order, @Delivery() _delivery: Delivery, _more: string, _last?: number): void {}
    }
    const starting = startApp({ providers: [Handler] });
    await expect(starting).rejects.toThrow(/Handler\.handle: parameter 2: expected a decorator/);
    await expect(starting).rejects.toThrow(/Handler\.handle: parameter 3: expected a decorator/);
    await expect(starting).rejects.not.toThrow(/parameter [01]:/);
  });
});
