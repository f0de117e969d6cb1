import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { Subscribe } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { openProxy } from '../support/proxied';
import { type AmqpProxy, fromClient } from '../support/proxy';

function consumesOf(proxy: AmqpProxy, queue: string): number {
  return proxy.frames.filter(fromClient('basic.consume', { queue })).length;
}

describe('pause()', async () => {
  const broker = await openBroker();

  it('survives reconnects; resume() then starts exactly one consumer', async () => {
    const queue = unique('paused');
    const witness = unique('witness');
    const proxy = await openProxy();
    const handled: number[] = [];

    @Injectable()
    class Handler {
      @Subscribe({ queue })
      handle(payload: number): void {
        handled.push(payload);
      }

      @Subscribe({ queue: witness })
      witness(): void {}
    }
    const { registry } = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    await registry.pause(Handler, 'handle');
    expect(await broker.consumers(queue)).toBe(0);
    for (let round = 1; round <= 2; round += 1) {
      const before = proxy.connectionCount;
      proxy.cutAll();
      await until(() => proxy.connectionCount > before);
      // Another subscription that is not paused shows when the connection is open again.
      await until(async () => (await broker.consumers(witness)) === 1);
      await until(() => registry.get(Handler, 'witness').state === 'consuming');
      await broker.send(queue, round);
      expect(registry.get(Handler, 'handle').state).toBe('paused');
    }
    // The channel of the paused subscription is open too: it would be consuming by now.
    expect(consumesOf(proxy, queue)).toBe(1);
    expect(await broker.consumers(queue)).toBe(0);
    expect(await broker.ready(queue)).toBe(2);
    expect(handled).toEqual([]);

    await registry.resume(Handler, 'handle');
    await until(() => handled.length === 2);
    expect(await broker.consumers(queue)).toBe(1);
    expect(registry.get(Handler, 'handle').state).toBe('consuming');
    await registry.resume(Handler, 'handle');
    expect(await broker.consumers(queue)).toBe(1);
  });

  it('resolves when nothing is in flight, and starts no handler meanwhile', async () => {
    const queue = unique('pausing');
    const proxy = await openProxy();
    const finish = new Gate();
    const started: number[] = [];

    @Injectable()
    class Handler {
      @Subscribe({ queue, prefetch: 2 })
      async handle(payload: number): Promise<void> {
        started.push(payload);
        await finish.promise;
      }
    }
    const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    await broker.send(queue, 1);
    await until(() => started.length === 1);
    const cancel = proxy.hold(fromClient('basic.cancel'), { times: 1 });
    let hasPaused = false;
    const paused = app.registry.pause(Handler, 'handle').then(() => {
      hasPaused = true;
    });
    await cancel.caught(1);
    await broker.send(queue, 2);
    await until(() => app.registry.get(Handler, 'handle').inFlight === 2);
    cancel.release();
    await app.settled(1);
    expect(app.settlements[0]?.status).toBe('released');
    expect(hasPaused).toBe(false);
    finish.open();
    await paused;
    expect(started).toEqual([1]);
    expect(app.registry.get(Handler, 'handle')).toMatchObject({ state: 'paused', inFlight: 0 });
    expect(await broker.ready(queue)).toBe(1);

    await app.registry.resume(Handler, 'handle');
    await until(() => started.length === 2);
  });

  it('ends with close(): resume() starts nothing during shutdown', async () => {
    const [queue, busy] = [unique('paused'), unique('busy')];
    const proxy = await openProxy();
    const finish = new Gate();
    const started: string[] = [];

    @Injectable()
    class Handler {
      @Subscribe({ queue })
      paused(): void {
        started.push('paused');
      }

      @Subscribe({ queue: busy })
      async busy(): Promise<void> {
        started.push('busy');
        await finish.promise;
      }
    }
    const { app, registry } = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    await registry.pause(Handler, 'paused');
    await broker.send(queue, 1);
    await broker.send(busy, 1);
    await until(() => started.length === 1);
    const closed = app.close();
    await until(async () => (await broker.consumers(busy)) === 0);
    await registry.resume(Handler, 'paused');
    finish.open();
    await closed;
    expect(consumesOf(proxy, queue)).toBe(1);
    expect(started).toEqual(['busy']);
    expect(await broker.ready(queue)).toBe(1);
  });
});
