import { AmqpConnection, RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Inject, Injectable, Module } from '@nestjs/common';
import { afterAll, describe, expect, it } from 'vitest';
import { type Delivery, retryAfter, Subscribe } from '../../lib';
import { startApp } from '../support/app';
import { Broker, management, openBroker, unique, url } from '../support/broker';
import { handlerOf } from '../support/handlers';

describe("golevelup's connection", async () => {
  const broker = await openBroker();

  it('overrides options of the decorator by those of a named handler', async () => {
    const name = unique('named');
    const seen: unknown[] = [];
    @Injectable()
    class Handler {
      @Subscribe({ name: 'orders', deadLetter: `${name}.dead`, queue: `${name}.other` })
      handle(payload: unknown): void {
        seen.push(payload);
        throw new Error('failed');
      }
    }
    const app = await startApp({
      providers: [Handler],
      rabbit: {
        exchanges: [{ name, type: 'topic' }],
        handlers: { orders: { exchange: name, routingKey: 'order.*', queue: name } },
      },
    });
    await broker.publish(name, 'order.paid', 1);
    await broker.waitForReady(`${name}.dead`, 1);
    expect(seen).toEqual([1]);
    expect(app.registry.get(Handler, 'handle', 'orders').subscription.queue).toBe(name);
  });

  it('makes one subscription for each of several options under one name', async () => {
    const name = unique('several');
    const Handler = handlerOf({ name: 'many' }, () => undefined);
    const app = await startApp({
      providers: [Handler],
      rabbit: { handlers: { many: [{ queue: `${name}.a` }, { queue: `${name}.b` }] } },
    });
    const queues = app.registry.list().map(({ subscription }) => subscription.queue);
    expect(queues).toEqual([`${name}.a`, `${name}.b`]);
    await broker.send(`${name}.a`, {});
    await broker.send(`${name}.b`, {});
    await app.settled(2);
  });

  it('applies its default handler to a subscription without a name', async () => {
    const name = unique('default');
    const Handler = handlerOf({}, () => undefined);
    const app = await startApp({
      providers: [Handler],
      rabbit: { handlers: { usual: { queue: name } }, defaultHandler: 'usual' },
    });
    await broker.send(name, {});
    const [settlement] = await app.settled(1);
    expect(settlement?.subscription).toMatchObject({ name: 'usual', queue: name });
  });

  it('without an entry of that name is a startup error', async () => {
    const Handler = handlerOf({ name: 'missing' }, () => undefined);
    await expect(
      startApp({ providers: [Handler], rabbit: { name: 'main', handlers: {} } }),
    ).rejects.toThrow(
      /^Handler\.handle: name: expected an entry "missing" in the handlers of connection "main"/,
    );
  });

  it('supplies the prefetch count: its own, or that of a channel', async () => {
    const name = unique('prefetch');
    const Own = handlerOf({ queue: `${name}.own`, prefetch: 3 }, () => undefined);
    const Shared = handlerOf({ queue: `${name}.shared` }, () => undefined);
    const Channel = handlerOf(
      { queue: `${name}.channel`, queueOptions: { channel: 'slow' } },
      () => undefined,
    );
    const app = await startApp({
      providers: [
        Own,
        ...[Shared, Channel].map((useClass, id) => ({ provide: `${id}`, useClass })),
      ],
      rabbit: {
        prefetchCount: 20,
        channels: { slow: { prefetchCount: 2 }, usual: { default: true } },
      },
    });
    const prefetchOf = (queue: string) =>
      app.log.matching(new RegExp(`"${queue}" .*prefetch`))[0]?.match(/prefetch (\d+)/)?.[1];
    expect(prefetchOf(`${name}.own`)).toBe('3');
    expect(prefetchOf(`${name}.shared`)).toBe('20');
    expect(prefetchOf(`${name}.channel`)).toBe('2');
  });

  it('disables its subscriptions by registerHandlers: false', async () => {
    const queue = unique('skipped');
    await broker.declare(queue);
    const Handler = handlerOf({ queue, deadLetter: `${queue}.dead` }, () => undefined);
    const app = await startApp({ providers: [Handler], rabbit: { registerHandlers: false } });
    expect(app.registry.get(Handler, 'handle').state).toBe('disabled');
    expect(await broker.consumers(queue)).toBe(0);
    expect(await broker.ready(`${queue}.dead`)).toBeUndefined();
    expect(app.log.matching(/\[disabled\] not consuming: .*registerHandlers: false/)).toHaveLength(
      1,
    );
    await app.registry.pause(Handler, 'handle');
    await app.registry.resume(Handler, 'handle');
    expect(app.registry.get(Handler, 'handle').state).toBe('disabled');
    await app.close();
    expect(app.registry.get(Handler, 'handle').state).toBe('disabled');
  });

  it('missing in the application is a startup error', async () => {
    const { Test } = await import('@nestjs/testing');
    const { SettleModule } = await import('../../lib');
    const Handler = handlerOf({ queue: 'q' }, () => undefined);
    const module = await Test.createTestingModule({
      imports: [SettleModule.forRoot()],
      providers: [Handler],
    }).compile();
    await expect(module.init()).rejects.toThrow(
      /Handler\.handle: connection: .*Import RabbitMQModule/,
    );
  });
});

describe('several connections', async () => {
  const vhost = unique('a/ü');
  const elsewhere = `${url.replace(/\/$/, '')}/${encodeURIComponent(vhost)}`;
  await management.addVirtualHost(vhost);
  const main = await openBroker();
  const second = await Broker.connect(elsewhere);
  afterAll(async () => {
    await second.close();
    await management.deleteVirtualHost(vhost);
  });

  @Module({
    imports: [RabbitMQModule.forRoot({ name: 'second', uri: elsewhere })],
    exports: [RabbitMQModule],
  })
  class SecondModule {}

  it('have their own subscriptions, republished messages, waiting and dead-letter queues', async () => {
    const queue = unique('twice');
    const seen: [string, number][] = [];
    @Injectable()
    class Handler {
      @Subscribe({ connection: 'main', queue, retry: { attempts: 2 }, deadLetter: `${queue}.dead` })
      main(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery) {
        seen.push(['main', delivery.attempt]);
      }

      @Subscribe({
        connection: 'second',
        queue,
        retry: { attempts: 2 },
        deadLetter: `${queue}.dead`,
      })
      second(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery) {
        seen.push(['second', delivery.attempt]);
        return retryAfter(50);
      }
    }
    const app = await startApp({
      providers: [Handler],
      imports: [SecondModule],
      rabbit: { name: 'main' },
    });
    expect(app.registry.list().map(({ state }) => state)).toEqual(['consuming', 'consuming']);
    await second.send(queue, {});
    await second.waitForReady(`${queue}.dead`, 1);
    await main.send(queue, {});
    await app.settled(3);
    expect(seen).toEqual([
      ['second', 1],
      ['second', 2],
      ['main', 1],
    ]);
    expect(await second.ready(`${queue}.wait.52`)).toBe(0);
    expect(await main.ready(`${queue}.wait.52`)).toBeUndefined();
    expect(await main.ready(`${queue}.dead`)).toBe(0);
  });

  it('require a subscription to name one of them', async () => {
    const [None, Wrong] = [
      handlerOf({ queue: 'none' }, () => undefined),
      handlerOf({ queue: 'wrong', connection: 'third' }, () => undefined),
    ];
    const starting = startApp({
      providers: [None, { provide: 'wrong', useClass: Wrong }],
      imports: [SecondModule],
      rabbit: { name: 'main' },
    });
    await expect(starting).rejects.toThrow(/expected one of "main", "second"; found undefined/);
    await expect(starting).rejects.toThrow(/expected one of "main", "second"; found 'third'/);
  });

  it('may be one, in another virtual host', async () => {
    const queue = unique('vhost');
    @Injectable()
    class Handler {
      constructor(@Inject(AmqpConnection) readonly connection: AmqpConnection) {}
      @Subscribe({ queue, retry: { attempts: 2 }, deadLetter: `${queue}.dead`, onError: 'retry' })
      handle(): void {
        throw new Error('failed');
      }
    }
    await startApp({ providers: [Handler], rabbit: { uri: elsewhere } });
    await second.send(queue, {});
    await second.waitForReady(`${queue}.dead`, 1);
    expect(await main.ready(queue)).toBeUndefined();
  });
});
