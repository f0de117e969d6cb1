import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import {
  SettleModule,
  SettleStartupError,
  ShutdownError,
  Subscribe,
  SubscriptionRegistry,
} from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';
import { openProxy } from '../support/proxied';
import { fromServer } from '../support/proxy';

describe('startup', async () => {
  const broker = await openBroker();

  it('resolves started once all subscriptions consume', async () => {
    const queues = [unique('one'), unique('two')] as const;
    const proxy = await openProxy();

    @Injectable()
    class Handler {
      @Subscribe({ queue: queues[0] })
      one(): void {}

      @Subscribe({ queue: queues[1] })
      two(): void {}
    }
    const confirmed = proxy.hold(fromServer('basic.consume-ok'), {
      times: 1,
      onlyMatching: true,
    });
    const starting = startApp({
      providers: [Handler],
      // RabbitMQModule's own consumer.
      rabbit: { uri: proxy.url, enableDirectReplyTo: false },
    });
    let hasStarted = false;
    void starting.then(() => {
      hasStarted = true;
    });
    await confirmed.caught(1);
    for (const queue of queues) await until(async () => (await broker.consumers(queue)) === 1);
    expect(hasStarted).toBe(false);
    confirmed.release();
    const app = await starting;
    expect(app.registry.list().map(({ state }) => state)).toEqual(['consuming', 'consuming']);
  });

  it('resolves started at once without subscriptions', async () => {
    const app = await startApp({ providers: [] });
    await expect(app.registry.started).resolves.toBeUndefined();
  });

  it("does not wait for a broker that is down if golevelup's wait is false", async () => {
    const queue = unique('later');
    const proxy = await openProxy();
    proxy.refuse(true);
    const handled: unknown[] = [];
    const rejections: unknown[] = [];
    const noteRejection = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', noteRejection);

    @Injectable()
    class Handler {
      @Subscribe({ queue })
      handle(payload: unknown): void {
        handled.push(payload);
      }
    }
    const startedAt = performance.now();
    const app = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url, connectionInitOptions: { wait: false } },
      wait: false,
    });
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    await until(() => proxy.refusedCount > 0);
    expect(app.registry.get(Handler, 'handle').state).toBe('starting');
    proxy.refuse(false);
    await app.registry.started;
    await broker.send(queue, 'hello');
    await until(() => handled.length === 1);
    expect(await broker.consumers(queue)).toBe(1);
    process.off('unhandledRejection', noteRejection);
    expect(rejections).toEqual([]);
  });

  it('fails if the broker is down and golevelup waits for it', async () => {
    const proxy = await openProxy();
    proxy.refuse(true);

    @Injectable()
    class Handler {
      @Subscribe({ queue: unique('never') })
      handle(): void {}
    }
    const starting = startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url, connectionInitOptions: { wait: true, timeout: 600 } },
    });
    await expect(starting).rejects.toThrow(/Failed to connect/);
  });

  it('rejects started with a ShutdownError if closed before, without an unhandled rejection', async () => {
    const proxy = await openProxy();
    proxy.refuse(true);
    const rejections: unknown[] = [];
    const noteRejection = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', noteRejection);

    @Injectable()
    class Handler {
      @Subscribe({ queue: unique('never') })
      handle(): void {}
    }
    const app = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url, connectionInitOptions: { wait: false } },
      wait: false,
    });
    await app.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.off('unhandledRejection', noteRejection);
    expect(rejections).toEqual([]);
    await expect(app.registry.started).rejects.toBeInstanceOf(ShutdownError);
    expect(app.registry.list().map(({ state }) => state)).toEqual(['stopped']);
  });

  it('rejects started with a ShutdownError if the application closes without init()', async () => {
    @Module({ imports: [RabbitMQModule.forRoot({ uri: url }), SettleModule.forRoot()] })
    class AppModule {}
    const app = await NestFactory.create(AppModule, { logger: false });
    const { started } = app.get(SubscriptionRegistry);
    await app.close();
    await expect(started).rejects.toBeInstanceOf(ShutdownError);
  });

  it('rejects started with a SettleStartupError if RabbitMQ refuses a subscription', async () => {
    const queue = unique('refused');
    await broker.declare(queue, { durable: false });

    @Injectable()
    class Handler {
      @Subscribe({ queue })
      refused(): void {}
    }
    const app = await startApp({
      providers: [Handler],
      settle: { onRefused: 'continue' },
      wait: false,
    });
    await expect(app.registry.started).rejects.toBeInstanceOf(SettleStartupError);
    await expect(app.registry.started).rejects.toThrow(queue);
  });
});
