import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { ack, type Delivery, SettlementEvents, ShutdownError, Subscribe } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { openProxy } from '../support/proxied';
import { fromClient, fromServer } from '../support/proxy';

describe('close()', async () => {
  const broker = await openBroker();

  it('requeues what is delivered before the cancel is confirmed, without starting it', async () => {
    const queue = unique('not-started');
    const proxy = await openProxy();
    const finish = new Gate();
    const started: string[] = [];

    @Injectable()
    class Handler {
      @Subscribe({ queue, prefetch: 2 })
      async handle(id: string): Promise<void> {
        started.push(id);
        await finish.promise;
      }
    }
    const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    await broker.send(queue, 'first');
    await until(() => started.length === 1);
    const cancel = proxy.hold(fromClient('basic.cancel'), { times: 1 });
    const closed = app.close();
    await cancel.caught(1);
    await broker.send(queue, 'second');
    await proxy.waitFor(fromServer('basic.deliver'), { count: 2 });
    await broker.send(queue, 'third');
    cancel.release();
    await proxy.waitFor(fromServer('basic.cancel-ok'));
    finish.open();
    await closed;

    expect(started).toEqual(['first']);
    const results = app.settlements.map(({ delivery, status }) => [delivery.payload, status]);
    expect(results).toContainEqual(['first', 'sent']);
    expect(results.filter(([, result]) => result === 'released')).toHaveLength(1);
    await broker.waitForReady(queue, 2);
    expect((await broker.take(queue)).fields.redelivered).toBe(true);
  });

  it.each<[how: string, finish: (close: () => Promise<void>) => unknown]>([
    ['that a handler does not await', (close) => void close()],
    ['in andAfter()', (close) => ack().andAfter(() => void close())],
  ])('%s acknowledges the message and leaves the next one', async (_how, finish) => {
    const queue = unique('one-shot');
    const started: string[] = [];
    let closed: Promise<void> | undefined;

    @Injectable()
    class Handler {
      @Subscribe({ queue, prefetch: 1 })
      handle(id: string): void {
        started.push(id);
        return finish(() => {
          closed = app.close();
          return closed;
        }) as never;
      }
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, 'first');
    await broker.send(queue, 'second');
    await until(() => closed !== undefined);
    await closed;
    expect(app.settlements.filter(({ decision }) => decision.kind === 'ack')).toHaveLength(1);
    expect(started).toEqual(['first']);
    await broker.waitForReady(queue, 1);
    expect(JSON.parse((await broker.take(queue)).content.toString())).toBe('second');
  });

  it('waits for running handlers, their acknowledgements and andAfter()', async () => {
    const queue = unique('started');
    const order: string[] = [];
    const finish = new Gate();

    @Injectable()
    class Handler {
      @Subscribe({ queue })
      async handle() {
        order.push('started');
        await finish.promise;
        return ack().andAfter(async ({ status }) => {
          order.push(`after ${status}`);
          await sleep(300);
          order.push('after work');
        });
      }
    }
    const app = await startApp({ providers: [Handler] });
    const completed = new Promise<void>((complete) => {
      app.app.get(SettlementEvents).subscribe({
        next: () => order.push('event'),
        complete: () => {
          order.push('stream completed');
          complete();
        },
      });
    });
    await broker.send(queue, 1);
    await until(() => order.includes('started'));
    const closed = app.close().then(() => order.push('closed'));
    finish.open();
    await Promise.all([closed, completed]);
    expect(order).toEqual([
      'started',
      'event',
      'after sent',
      'after work',
      'stream completed',
      'closed',
    ]);
    expect(await broker.ready(queue)).toBe(0);
  });

  it('aborts the signals before shutdownTimeout, and gives up when it expires', async () => {
    const queue = unique('hung');
    const aborted: { reason: unknown; at: number }[] = [];
    let started = 0;

    @Injectable()
    class Handler {
      @Subscribe({ queue })
      async handle(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery) {
        started += 1;
        delivery.signal.addEventListener('abort', () =>
          aborted.push({ reason: delivery.signal.reason, at: performance.now() }),
        );
        await new Promise(() => undefined);
      }
    }
    const app = await startApp({
      providers: [Handler],
      settle: { shutdownTimeout: 1_500, abortGracePeriod: 500 },
    });
    await broker.send(queue, 1);
    await broker.send(queue, 2);
    await until(() => started === 2);
    const startedAt = performance.now();
    await app.close();
    const took = performance.now() - startedAt;

    expect(took).toBeGreaterThanOrEqual(1_500);
    expect(took).toBeLessThan(2_500);
    expect(aborted).toHaveLength(2);
    for (const { reason, at } of aborted) {
      expect(reason).toBeInstanceOf(ShutdownError);
      expect(at - startedAt).toBeGreaterThanOrEqual(999);
      expect(at - startedAt).toBeLessThan(took - 300);
    }
    expect(
      app.log.matching(/\[shutdown-timeout\] Handler\.handle: .*2 messages still running/, [
        'warn',
      ]),
    ).toHaveLength(1);
    expect(app.settlements.map(({ status }) => status)).toEqual(['released', 'released']);
    await broker.waitForReady(queue, 2);
  });

  it('aborts at once if abortGracePeriod is as long as shutdownTimeout', async () => {
    const queue = unique('abort-at-once');
    let started = false;

    @Injectable()
    class Handler {
      @Subscribe({ queue })
      async handle(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery) {
        started = true;
        await new Promise((_resolve, reject) => {
          delivery.signal.addEventListener('abort', () => reject(delivery.signal.reason));
        });
      }
    }
    const app = await startApp({
      providers: [Handler],
      settle: { shutdownTimeout: '20s', abortGracePeriod: '20s' },
    });
    await broker.send(queue, 1);
    await until(() => started);
    await app.close();
    expect(app.settlements.map(({ status }) => status)).toEqual(['released']);
    await broker.waitForReady(queue, 1);
  }, 10_000);
});
