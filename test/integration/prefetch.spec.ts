import { describe, expect, it } from 'vitest';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { eventually } from '../support/eventually';
import { managed } from '../support/forced';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';
import { fromClient } from '../support/proxy';

describe('the prefetch count of each subscription', async () => {
  const broker = await openBroker();

  it('is its own, and set on its channel before and after a reconnect', async () => {
    const prefix = unique('prefetch');
    const proxy = await openProxy();
    const own = (name: string, options: object) =>
      handlerOf({ queue: `${prefix}.${name}`, ...options }, () => undefined);
    await startApp({
      providers: [
        own('1', { prefetch: 1 }),
        own('5', { prefetch: 5, queueType: 'quorum' }),
        own('65535', { prefetch: 65_535 }),
        own('7', { queueOptions: { channel: 'slow' } }),
        own('33', {}),
      ],
      rabbit: {
        uri: proxy.url,
        prefetchCount: 33,
        channels: { main: { prefetchCount: 2, default: true }, slow: { prefetchCount: 7 } },
      },
    });
    const expectOwn = (): Promise<void> =>
      eventually(async () => {
        const consumers = (await managed().consumers()).filter(({ queue }) =>
          queue.startsWith(prefix),
        );
        const found = consumers.map(({ queue, prefetch }) => [queue, prefetch]).sort();
        const expected = [1, 5, 7, 33, 65_535].map((count) => [`${prefix}.${count}`, count]);
        expect(found).toEqual(expected.sort());
      });
    await expectOwn();
    proxy.cutAll();
    const consumed = fromClient('basic.consume');
    await proxy.waitFor(consumed, { count: 10, timeoutMs: 10_000 });
    await expectOwn();
    expect(await broker.consumers(`${prefix}.1`)).toBe(1);
  });
});
