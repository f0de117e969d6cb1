import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { CanActivate, Injectable, UseGuards } from '@nestjs/common';
import { ClsModule, ClsService } from 'nestjs-cls';
import { expect, it } from 'vitest';
import {
  ack,
  currentDelivery,
  type Delivery,
  type DeliveryInterceptor,
  drop,
  type InjectableDeliveryInterceptor,
  type Outcome,
  Subscribe,
} from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

const broker = await openBroker();
const idOf = (delivery: Delivery | undefined): string | undefined => delivery?.messageId;

it('is that of the message in interceptors, guards, handlers, policies, callbacks and events', async () => {
  const queue = unique('current');
  const seen: Record<string, (string | undefined)[]> = { a: [], b: [] };
  const note = (delivery: Delivery): void => {
    seen[delivery.messageId ?? '']?.push(idOf(currentDelivery()));
  };
  const interceptor: DeliveryInterceptor = async (delivery, next) => {
    note(delivery);
    const outcome = await next();
    note(delivery);
    return outcome;
  };
  class Guard implements CanActivate {
    canActivate(): boolean {
      const delivery = currentDelivery();
      if (delivery !== undefined) note(delivery);
      return true;
    }
  }
  @Injectable()
  class Handler {
    @UseGuards(Guard)
    @Subscribe({
      queue,
      onError: (_error, delivery) => {
        note(delivery);
        return drop().andAfter(() => note(delivery));
      },
    })
    async handle(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery) {
      note(delivery);
      await sleep(20);
      note(delivery);
      if (delivery.messageId === 'b') throw new Error('x');
      return ack().andAfter(() => note(delivery));
    }
  }
  const app = await startApp({
    providers: [Handler],
    settle: { context: true, interceptors: [interceptor] },
  });
  for (const messageId of ['a', 'b']) await broker.send(queue, {}, { messageId });
  await app.settled(2);
  expect(seen).toEqual({ a: Array(6).fill('a'), b: Array(7).fill('b') });
  expect(currentDelivery()).toBeUndefined();
});

it('stays that of a handler that has timed out, while the next one runs', async () => {
  const queue = unique('timed-out');
  const seen: unknown[] = [];
  const Handler = handlerOf({ queue, prefetch: 1, timeout: 30 }, async (_payload, delivery) => {
    if (delivery.messageId !== 'slow') return;
    await until(() => app.settlements.length === 2);
    seen.push(idOf(currentDelivery()));
  });
  const app = await startApp({ providers: [Handler], settle: { context: true } });
  for (const messageId of ['slow', 'next']) await broker.send(queue, {}, { messageId });
  await app.settled(2);
  await until(() => seen.length === 1);
  expect(seen).toEqual(['slow']);
});

it('leaves the contexts of the application alone', async () => {
  const queue = unique('other-context');
  const own = new AsyncLocalStorage<number>();
  const seen: unknown[] = [];
  const interceptor: DeliveryInterceptor = (_delivery, next) => own.run(7, next);
  const Handler = handlerOf({ queue }, () => {
    seen.push(own.getStore());
    return ack().andAfter(() => seen.push(own.getStore()));
  });
  const settle = { context: true, interceptors: [interceptor] };
  const app = await startApp({ providers: [Handler], settle });
  await broker.send(queue, {});
  await app.settled(1);
  await until(() => seen.length === 2);
  expect(seen).toEqual([7, 7]);
});

it('can be a store of nestjs-cls, one for each delivery', async () => {
  const queue = unique('cls');
  const seen: unknown[] = [];
  @Injectable()
  class ClsForDeliveries implements InjectableDeliveryInterceptor {
    constructor(private readonly cls: ClsService) {}

    intercept(delivery: Delivery, next: () => Promise<Outcome>): Promise<Outcome> {
      return this.cls.run(() => {
        this.cls.set('messageId', delivery.messageId);
        return next();
      });
    }
  }
  @Injectable()
  class Handler {
    constructor(private readonly cls: ClsService) {}

    @Subscribe({ queue })
    async handle(): Promise<ReturnType<typeof ack>> {
      await sleep(10);
      seen.push(this.cls.get('messageId'));
      return ack().andAfter(() => seen.push(this.cls.get('messageId')));
    }
  }
  const app = await startApp({
    providers: [Handler, ClsForDeliveries],
    imports: [ClsModule.forRoot({ global: true })],
    settle: { interceptors: [ClsForDeliveries] },
  });
  for (const messageId of ['a', 'b']) await broker.send(queue, {}, { messageId });
  await app.settled(2);
  await until(() => seen.length === 4);
  expect(seen.sort()).toEqual(['a', 'a', 'b', 'b']);
});

it('is undefined without the option', async () => {
  const queue = unique('without');
  const seen: unknown[] = [];
  const Handler = handlerOf({ queue }, () => void seen.push(currentDelivery()));
  const app = await startApp({ providers: [Handler] });
  await broker.send(queue, {});
  await app.settled(1);
  expect(seen).toEqual([undefined]);
});
