import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import {
  ack,
  currentDelivery,
  type Delivery,
  type DeliveryInterceptor,
  drop,
  type InjectableDeliveryInterceptor,
  type Outcome,
  on,
  retry,
  Subscribe,
  type SubscribeOptions,
} from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';
import type { AcknowledgedOptions } from '../support/handlers';

type Body = (payloads: readonly unknown[], deliveries: readonly Delivery[]) => unknown;

/** A new provider whose method `handle` gets batches, and the batches that it got. */
function batchHandler(
  options: AcknowledgedOptions & { batch: NonNullable<SubscribeOptions['batch']> },
  body: Body = () => undefined,
) {
  const batches: (readonly unknown[])[] = [];
  @Injectable()
  class Handler {
    @Subscribe(options as SubscribeOptions)
    handle(payloads: readonly unknown[], deliveries: unknown): void {
      batches.push(payloads);
      return body(payloads, deliveries as readonly Delivery[]) as never;
    }
  }
  return { Handler, batches };
}

describe('interceptors of the module around batches', async () => {
  const broker = await openBroker();
  const send = async (queue: string, payloads: readonly unknown[]): Promise<void> => {
    for (const payload of payloads) await broker.send(queue, payload);
  };

  it('surround each message, outermost first, and see its outcome', async () => {
    const queue = unique('batch.around');
    const seen: unknown[] = [];
    const around: DeliveryInterceptor = async (delivery, next) => {
      seen.push(['before', delivery.payload]);
      const { kind } = await next();
      seen.push(['after', delivery.payload, kind]);
      return kind === 'drop' ? ack() : retry();
    };
    @Injectable()
    class Inner implements InjectableDeliveryInterceptor {
      async intercept({ payload }: Delivery, next: () => Promise<Outcome>): Promise<Outcome> {
        seen.push(['inner', payload]);
        return next();
      }
    }
    const { Handler } = batchHandler({ queue, batch: { size: 2, wait: 5_000 } }, (payloads) => {
      if (payloads.length === 1) return drop();
      seen.push(['handler', ...payloads]);
      return [undefined, drop()];
    });
    const { settled } = await startApp({
      providers: [Inner, Handler],
      settle: { interceptors: [around, Inner] },
    });
    await send(queue, ['a', 'b']);
    const settlements = await settled(2);
    expect(seen.slice(0, 7)).toEqual([
      ['before', 'a'],
      ['inner', 'a'],
      ['before', 'b'],
      ['inner', 'b'],
      ['handler', 'a', 'b'],
      ['after', 'a', 'ack'],
      ['after', 'b', 'drop'],
    ]);
    const kinds = settlements.map(({ delivery, decision, batchSize }) => [
      delivery.payload,
      decision.kind,
      batchSize,
    ]);
    expect(kinds.slice(0, 2)).toEqual([
      ['a', 'requeue', 2],
      ['b', 'ack', 2],
    ]);
  });

  it('a message whose interceptor does not call next is not in the batch', async () => {
    const queue = unique('batch.left-out');
    const skipOdd: DeliveryInterceptor = async ({ payload }, next) =>
      Number(payload) % 2 === 1 ? drop('odd') : next();
    const { Handler, batches } = batchHandler({ queue, batch: { size: 4, wait: 5_000 } });
    const { settled } = await startApp({
      providers: [Handler],
      settle: { interceptors: [skipOdd] },
    });
    await send(queue, [1, 2, 3, 4]);
    const settlements = await settled(4);
    expect(batches).toEqual([[2, 4]]);
    const ends = settlements.map(({ delivery, decision }) => [delivery.payload, decision.kind]);
    expect(ends.sort()).toEqual([
      [1, 'reject'],
      [2, 'ack'],
      [3, 'reject'],
      [4, 'ack'],
    ]);
    // Nothing is left for the handler.
    await send(queue, [5, 7, 9, 11]);
    await settled(8);
    expect(batches).toHaveLength(1);
  });

  it('what one of them throws is the failure of its message, before and after next', async () => {
    class Refused extends Error {}
    const queue = unique('batch.thrown');
    const failing: DeliveryInterceptor = async ({ payload }, next) => {
      if (payload === 1) throw new Refused('before');
      const outcome = await next();
      if (payload === 2) throw new Refused('after');
      return outcome;
    };
    const { Handler, batches } = batchHandler({
      queue,
      onError: [on(Refused, 'skip'), 'drop'],
      batch: { size: 3, wait: 5_000 },
    });
    const { settled } = await startApp({
      providers: [Handler],
      settle: { interceptors: [failing] },
    });
    await send(queue, [1, 2, 3]);
    const settlements = await settled(3);
    expect(batches).toEqual([[2, 3]]);
    expect(
      settlements.map(({ outcome, error }) => [outcome.kind, (error as Error)?.message]),
    ).toEqual([
      ['ack', 'before'],
      ['ack', 'after'],
      ['ack', undefined],
    ]);
  });

  it('one that lets only one message pass at a time splits the batch', async () => {
    const queue = unique('batch.serial');
    let last: Promise<unknown> = Promise.resolve();
    const serial: DeliveryInterceptor = (_delivery, next) => {
      const run = last.then(next);
      last = run;
      return run;
    };
    const { Handler, batches } = batchHandler({ queue, batch: { size: 3, wait: 50 } });
    const { settled } = await startApp({
      providers: [Handler],
      settle: { interceptors: [serial] },
    });
    await send(queue, [1, 2, 3]);
    const settlements = await settled(3);
    expect(batches).toEqual([[1], [2], [3]]);
    expect(settlements.map(({ decision }) => decision.kind)).toEqual(['ack', 'ack', 'ack']);
  });

  it('see invalid payloads, and a message that is handled alone', async () => {
    const queue = unique('batch.invalid');
    const seen: unknown[] = [];
    const around: DeliveryInterceptor = async ({ attempt, message }, next) => {
      const { kind, reason } = await next();
      seen.push([String(message.content), attempt, kind]);
      return kind === 'drop' ? drop(`audited ${reason ?? ''}`) : kind === 'retry' ? retry() : ack();
    };
    const { Handler } = batchHandler(
      { queue, retry: { attempts: 3 }, batch: { size: 2, wait: 100 } },
      (_payloads, [first]) => (first?.attempt === 1 ? [retry(), undefined] : undefined),
    );
    const { settled } = await startApp({
      providers: [Handler],
      settle: { interceptors: [around] },
    });
    await send(queue, [Buffer.from('{'), 1, 2]);
    const settlements = await settled(4);
    expect(seen).toEqual([
      ['{', 1, 'drop'],
      ['1', 1, 'retry'],
      ['2', 1, 'ack'],
      ['1', 2, 'ack'],
    ]);
    expect(settlements[0]?.outcome.reason).toMatch(/^audited/);
  });

  it('each message has its own context; the handler has that of the first, and no current delivery', async () => {
    const queue = unique('batch.context');
    const store = new AsyncLocalStorage<unknown>();
    const seen: unknown[] = [];
    const open: DeliveryInterceptor = (delivery, next) => {
      seen.push(['interceptor', currentDelivery() === delivery]);
      return store.run(delivery.payload, next);
    };
    const { Handler } = batchHandler(
      {
        queue,
        batch: { size: 2, wait: 5_000 },
        onError: (_error, delivery) => {
          seen.push(['onError', store.getStore(), currentDelivery() === delivery]);
          return drop();
        },
      },
      () => {
        seen.push(['handler', store.getStore(), currentDelivery()]);
        throw new Error('not yet');
      },
    );
    const settle = { interceptors: [open], context: true };
    const { settled } = await startApp({ providers: [Handler], settle });
    await send(queue, ['a', 'b']);
    await settled(2);
    expect(seen).toEqual([
      ['interceptor', true],
      ['interceptor', true],
      ['handler', 'a', undefined],
      ['onError', 'a', true],
      ['onError', 'b', true],
    ]);
  });

  it('a pause waits for what they do', async () => {
    const queue = unique('batch.audit');
    let release: () => void = () => {};
    const audit: DeliveryInterceptor = async (_delivery, next) => {
      const outcome = await next();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return outcome;
    };
    const { Handler, batches } = batchHandler({ queue, batch: { size: 1, wait: 100 } });
    const app = await startApp({ providers: [Handler], settle: { interceptors: [audit] } });
    await send(queue, [1]);
    await until(() => batches.length === 1);
    let isPaused = false;
    const paused = app.registry.pause(Handler, 'handle').then(() => {
      isPaused = true;
    });
    await until(() => app.registry.get(Handler, 'handle').state === 'paused');
    expect(isPaused).toBe(false);
    release();
    await paused;
    expect(app.settlements.map(({ status }) => status)).toEqual(['sent']);
  });
});
