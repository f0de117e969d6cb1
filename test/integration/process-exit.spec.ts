import { describe, expect, it } from 'vitest';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { ChildApp } from '../support/process/child-app';
import { useCompiledFixtures } from '../support/process/compiled';
import { openProxy } from '../support/proxied';
import { type AmqpProxy, fromServer } from '../support/proxy';
import type { ShutdownSettings } from './fixtures/shutdown';

/** How long a process may take to end once `close()` has resolved, in ms: 1 s, and some time for a slow machine. */
const LIMIT = 2_500;

describe('the process exits by itself after close()', async () => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();

  async function start(
    proxy: AmqpProxy,
    handler: ShutdownSettings['handler'],
  ): Promise<{ child: ChildApp; queue: string }> {
    const queue = unique('ends');
    await broker.declare(queue);
    const settings: ShutdownSettings = { url: proxy.url, queue, handler, exits: false };
    const child = new ChildApp(fixtures.pathOf('shutdown'), { settings });
    await child.waitFor('ready');
    return { child, queue };
  }

  async function consuming(queue: string): Promise<void> {
    await until(async () => (await broker.consumers(queue)) === 1);
  }

  async function closeAndEnd(child: ChildApp): Promise<void> {
    child.signal('SIGUSR2');
    const exit = await child.exited();
    expect(exit).toEqual({ code: 0, signal: null });
    const [closing] = child.reported('closing');
    const [closed] = child.reported('closed');
    expect(closed?.at).toBeGreaterThanOrEqual(closing?.at ?? Number.POSITIVE_INFINITY);
    expect(Date.now() - (closed?.at ?? 0)).toBeLessThan(LIMIT);
    expect(child.reported('unhandledRejection')).toEqual([]);
    expect(child.output).toEqual([]);
  }

  it('while shutdown waits for a handler', async () => {
    const proxy = await openProxy();
    const { child, queue } = await start(proxy, 'work');
    await broker.send(queue, 1);
    await child.waitFor('started');
    await closeAndEnd(child);
    expect(child.reported('done')).toHaveLength(1);
    expect(await broker.ready(queue)).toBe(0);
  });

  it('while a handler never ends', async () => {
    const proxy = await openProxy();
    const { child, queue } = await start(proxy, 'hang');
    await broker.send(queue, 1);
    await child.waitFor('started');
    await closeAndEnd(child);
    await broker.waitForReady(queue, 1);
  });

  it.each<[string, (proxy: AmqpProxy) => Promise<() => Promise<unknown>>, number]>([
    [
      'has no connection',
      async (proxy) => {
        proxy.refuse(true);
        return () => until(() => proxy.refusedCount > 0);
      },
      1,
    ],
    [
      'has a connection that the broker does not answer',
      async (proxy) => {
        const greeting = proxy.hold(fromServer('connection.start'));
        return () => greeting.caught(1);
      },
      1,
    ],
    [
      'has no confirm',
      async (proxy) => {
        const confirm = proxy.hold(fromServer('basic.ack'));
        return () => confirm.caught(1);
      },
      2, // Unconfirmed: the republished message is there, and the original is requeued.
    ],
  ])('while a retry being republished %s', async (_name, hinder, left) => {
    const proxy = await openProxy();
    const { child, queue } = await start(proxy, 'retryLater');
    await consuming(queue);
    const pending = await hinder(proxy);
    await broker.send(queue, 1);
    await child.waitFor('done');
    await pending();
    await closeAndEnd(child);
    await broker.waitForReady(queue, left);
  });

  it('while it waits to reconnect', async () => {
    const proxy = await openProxy();
    const { child, queue } = await start(proxy, 'work');
    await consuming(queue);
    proxy.refuse(true);
    proxy.cutAll();
    await until(() => proxy.openConnections.length === 0);
    await child.waitFor('log', 2); // The line of the start, and that of the lost channel.
    await closeAndEnd(child);
  });

  it('while it waits for its first connection', async () => {
    const proxy = await openProxy();
    proxy.refuse(true);
    const { child } = await start(proxy, 'work');
    await until(() => proxy.refusedCount > 0);
    await closeAndEnd(child);
  });
});

describe('a process that exits as soon as close() resolves', async () => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();

  it('has acknowledged what its handler finished at that moment, in 12 runs', async () => {
    const queue = unique('exits');
    await broker.declare(queue);
    for (let run = 1; run <= 12; run += 1) {
      const proxy = await openProxy();
      await broker.send(queue, run);
      const settings: ShutdownSettings = {
        url: proxy.url,
        queue,
        handler: 'closeTheApp',
        exits: true,
      };
      const child = new ChildApp(fixtures.pathOf('shutdown'), { settings });
      expect(await child.exited()).toEqual({ code: 0, signal: null });
      expect(child.reported('done')).toHaveLength(1);
      expect(await broker.ready(queue), `after run ${run}`).toBe(0);
    }
  }, 60_000);
});
