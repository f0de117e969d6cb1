import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { type Delivery, SettlementEvents, ShutdownError, Subscribe } from '../../lib';
import { startApp, type TestApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { openProxy } from '../support/proxied';
import { fromServer } from '../support/proxy';

/** Resolves when the module itself has stopped; the application may still be closing other things. */
function stopped({ app }: TestApp): Promise<void> {
  return new Promise((resolve) => {
    app.get(SettlementEvents).subscribe({ complete: resolve });
  });
}

describe('close()', async () => {
  const broker = await openBroker();

  it('shuts down once, however often it is called', async () => {
    const proxy = await openProxy();

    @Injectable()
    class Handler {
      @Subscribe({ queue: unique('twice') })
      handle(): void {}
    }
    const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    const end = stopped(app);
    // RabbitMQModule's own part of the first call never ends when a second call overtakes it.
    void app.app.close();
    await app.app.close();
    await end;
    await app.app.close();
    expect(proxy.count('client', 'basic.cancel')).toBe(1);
    expect(proxy.count('server', 'basic.cancel-ok')).toBe(1);
  });

  it('ends before the first connection is open', async () => {
    const proxy = await openProxy();
    proxy.refuse(true);

    @Injectable()
    class Handler {
      @Subscribe({ queue: unique('never-connected') })
      handle(): void {}
    }
    const app = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url, connectionInitOptions: { wait: false } },
      wait: false,
    });
    await until(() => proxy.refusedCount > 0);
    const startedAt = performance.now();
    await app.close();
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    await expect(app.registry.started).rejects.toBeInstanceOf(ShutdownError);
  });

  it('ends when the broker is down', async () => {
    const queue = unique('broker-gone');
    const proxy = await openProxy();
    let signal: AbortSignal | undefined;

    @Injectable()
    class Handler {
      @Subscribe({ queue })
      async handle(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery) {
        signal = delivery.signal;
        await new Promise((resolve) => delivery.signal.addEventListener('abort', resolve));
      }
    }
    const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    await broker.send(queue, 1);
    await until(() => signal !== undefined);
    proxy.refuse(true);
    proxy.cutAll();
    const startedAt = performance.now();
    await app.close();
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(signal?.aborted).toBe(true);
    expect(app.settlements.map(({ status }) => status)).toEqual(['abandoned']);
    await broker.waitForReady(queue, 1);
  });

  it('aborts and ends within shutdownTimeout when the broker does not respond', async () => {
    const queue = unique('silent');
    const proxy = await openProxy();
    let signal: AbortSignal | undefined;
    let abortedAt = 0;

    @Injectable()
    class Handler {
      @Subscribe({ queue })
      async handle(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery) {
        signal = delivery.signal;
        signal.addEventListener('abort', () => {
          abortedAt = performance.now();
        });
        await new Promise(() => undefined);
      }
    }
    const app = await startApp({
      providers: [Handler],
      rabbit: {
        uri: proxy.url,
        connectionManagerOptions: { heartbeatIntervalInSeconds: 60, reconnectTimeInSeconds: 1 },
      },
      settle: { shutdownTimeout: 1_500, abortGracePeriod: 1_000 },
    });
    await broker.send(queue, 1);
    await until(() => signal !== undefined);
    proxy.pause();
    const startedAt = performance.now();
    const end = stopped(app);
    const closed = app.close();
    await end;
    const took = performance.now() - startedAt;
    expect(took).toBeLessThan(2_700);
    expect(signal?.reason).toBeInstanceOf(ShutdownError);
    expect(abortedAt - startedAt).toBeGreaterThanOrEqual(499);
    expect(abortedAt - startedAt).toBeLessThan(1_200);
    proxy.resume();
    await closed;
  });

  it('does not resolve before the broker has responded to a request sent after the acknowledgements', async () => {
    const queue = unique('round-trip');
    const proxy = await openProxy();

    @Injectable()
    class Handler {
      @Subscribe({ queue })
      handle(): void {}
    }
    const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    await broker.send(queue, 1);
    await app.settled(1);
    const answer = proxy.hold(fromServer('channel.close-ok'));
    let hasStopped = false;
    const end = stopped(app).then(() => {
      hasStopped = true;
    });
    const closed = app.close();
    const [frame] = await answer.caught(1);
    const sent = proxy.frames
      .filter(({ direction, channel }) => direction === 'client' && channel === frame?.channel)
      .map(({ method }) => method);
    expect(sent.slice(-3)).toEqual(['basic.ack', 'basic.cancel', 'channel.close']);
    expect(await broker.ready(queue)).toBe(0);
    // Without waiting for the response, close() would have resolved long before.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(hasStopped).toBe(false);
    answer.release();
    await Promise.all([end, closed]);
  });

  it('keeps what was finished at the moment of closing, in 60 runs', async () => {
    const queue = unique('moment');
    for (let run = 1; run <= 60; run += 1) {
      let handled: () => void = () => undefined;
      const done = new Promise<void>((resolve) => {
        handled = resolve;
      });

      @Injectable()
      class Handler {
        @Subscribe({ queue })
        async handle(): Promise<void> {
          handled();
        }
      }
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, run);
      await done;
      await app.close();
      expect(await broker.ready(queue), `after run ${run}`).toBe(0);
    }
  }, 60_000);
});
