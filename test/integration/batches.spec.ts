import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { ChannelLostError, type Delivery, Subscribe, type SubscribeOptions } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { openProxy } from '../support/proxied';
import { fromClient } from '../support/proxy';

function batchHandler(
  options: SubscribeOptions,
  body: (deliveries: readonly Delivery[]) => unknown,
) {
  const batches: (readonly number[])[] = [];
  @Injectable()
  class Handler {
    @Subscribe(options)
    handle(payloads: readonly number[], deliveries: unknown): void {
      batches.push(payloads);
      return body(deliveries as readonly Delivery[]) as never;
    }
  }
  return { Handler, batches };
}

describe('batches on a channel', async () => {
  const broker = await openBroker();

  it('a finished batch is acknowledged in one frame', async () => {
    const queue = unique('batch.ack');
    const proxy = await openProxy();
    const { Handler } = batchHandler({ queue, batch: { size: 20, wait: 5_000 } }, () => undefined);
    const { settled } = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    for (let payload = 1; payload <= 20; payload += 1) await broker.send(queue, payload);
    await settled(20);
    await until(() => proxy.frames.some(fromClient('basic.ack')));
    const acks = proxy.frames.filter(fromClient('basic.ack'));
    expect(acks.map(({ details }) => [details.deliveryTag, details.multiple])).toEqual([
      [20, true],
    ]);
  });

  it.each<['classic' | 'quorum']>([['classic'], ['quorum']])(
    'a lost channel aborts the signals of what runs, forgets what is collected, and settles nothing (%s)',
    async (queueType) => {
      const queue = unique('batch.lost');
      const proxy = await openProxy();
      const reasons: unknown[] = [];
      const first = new Gate();
      const { Handler, batches } = batchHandler(
        { queue, queueType, prefetch: 10, batch: { size: 2, wait: 1_000, isolateRetries: false } },
        async (deliveries) => {
          for (const { signal } of deliveries) {
            signal.addEventListener('abort', () => reasons.push(signal.reason));
          }
          if (batches.length === 1) await first.promise;
        },
      );
      const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
      for (const payload of [1, 2, 3]) await broker.send(queue, payload);
      await until(() => app.registry.get(Handler, 'handle').waiting === 1);
      proxy.cutAll();
      await until(() => reasons.length === 2);
      expect(reasons.every((reason) => reason instanceof ChannelLostError)).toBe(true);
      await until(() => app.registry.get(Handler, 'handle').waiting === 3);
      expect(batches).toEqual([[1, 2]]);
      first.open();
      await app.settled(5);
      expect(batches).toEqual([[1, 2], [1, 2], [3]]);
      expect(app.settlements.map(({ status }) => status).sort()).toEqual([
        'abandoned',
        'abandoned',
        'sent',
        'sent',
        'sent',
      ]);
      await until(async () => (await broker.ready(queue)) === 0);
    },
  );

  it('after a lost channel a classic queue cannot tell what was tried: each comes alone', async () => {
    const queue = unique('batch.redelivered');
    const proxy = await openProxy();
    const { Handler, batches } = batchHandler(
      { queue, batch: { size: 3, wait: 60_000 } },
      () => undefined,
    );
    const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    for (const payload of [1, 2]) await broker.send(queue, payload);
    await until(() => app.registry.get(Handler, 'handle').waiting === 2);
    proxy.cutAll();
    await app.settled(2);
    expect(batches).toEqual([[1], [2]]);
  });
});
