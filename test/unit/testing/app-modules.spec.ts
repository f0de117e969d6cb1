import net from 'node:net';
import tls from 'node:tls';
import {
  AmqpConnection,
  AmqpConnectionManager,
  type RabbitMQConfig,
  RabbitMQModule,
  RabbitSubscribe,
} from '@golevelup/nestjs-rabbitmq';
import { Injectable, Module } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SettleModule, SettleStartupError, Subscribe } from '../../../lib';
import { SettleTest } from '../../../lib/testing';
import { appOf, boot, start } from './app';

const URI = 'amqp://nowhere.invalid';
const SILENT = { log: () => {}, warn: () => {}, error: () => {} };

@Injectable()
class Shop {
  constructor(private readonly amqp: AmqpConnection) {}

  async buy(number: number): Promise<void> {
    await this.amqp.publish('orders', 'order.paid', { number }, { messageId: `m${number}` });
  }
}

@Injectable()
class Billing {
  readonly charged: unknown[] = [];

  @Subscribe({ exchange: 'orders', routingKey: 'order.paid', queue: 'billing' })
  charge(order: unknown): void {
    this.charged.push(order);
  }
}

@Injectable()
class Legacy {
  @RabbitSubscribe({ exchange: 'orders', routingKey: '#', queue: 'legacy' })
  handle(): void {
    throw new Error('golevelup handlers do not run in memory');
  }
}

describe('an application with unchanged modules', () => {
  const connect = vi.fn(() => {
    throw new Error('a socket was opened');
  });

  beforeEach(() => {
    vi.spyOn(net.Socket.prototype, 'connect').mockImplementation(connect as never);
    vi.spyOn(tls, 'connect').mockImplementation(connect as never);
  });

  afterEach(() => {
    vi.restoreAllMocks();
    expect(connect).not.toHaveBeenCalled();
  });

  it.each([
    ['forRoot', () => RabbitMQModule.forRoot(configuration())],
    ['forRootAsync', () => RabbitMQModule.forRootAsync({ useFactory: () => configuration() })],
    [
      'forRootAsync with several addresses',
      () =>
        RabbitMQModule.forRootAsync({
          useFactory: async () => ({ ...configuration(), uri: [`${URI}:1`, `${URI}:2`] }),
        }),
    ],
  ])('runs from publisher to subscriber with %s', async (_how, rabbit) => {
    @Module({
      imports: [rabbit(), SettleModule.forRootAsync({ useFactory: () => ({ logger: SILENT }) })],
      providers: [Shop, Billing, Legacy],
    })
    class AppModule {}
    const handles = process.getActiveResourcesInfo().filter((name) => /TCP|DNS|GetAddr/.test(name));
    const test = await boot(SettleTest.create({ imports: [AppModule] }));
    await test.get(Shop).buy(7);
    await test.idle();
    expect(test.get(Billing).charged).toEqual([{ number: 7 }]);
    expect(test.settlements(Billing, 'charge')).toMatchObject([
      { messageId: 'm7', outcome: 'ack' },
    ]);
    expect(process.getActiveResourcesInfo().filter((name) => /TCP|DNS|GetAddr/.test(name))).toEqual(
      handles,
    );
  });

  it('supports several connections with their own subscriptions', async () => {
    @Injectable()
    class Two {
      @Subscribe({ connection: 'first', queue: 'one' })
      one(): void {}

      @Subscribe({ connection: 'second', queue: 'two' })
      two(): void {}
    }
    const test = await boot(
      SettleTest.create({
        imports: [
          RabbitMQModule.forRoot({ ...configuration(), name: 'first' }),
          RabbitMQModule.forRoot({ ...configuration(), name: 'second', exchanges: [] }),
          SettleModule.forRoot({ logger: SILENT }),
        ],
        providers: [Two],
      }),
    );
    expect(await test.deliver(Two, 'one', 1)).toMatchObject({ outcome: 'ack' });
    expect(await test.deliver(Two, 'two', 2)).toMatchObject({ outcome: 'ack' });
    const manager = test.get(AmqpConnectionManager);
    expect(manager.getConnection('first')?.configuration.name).toBe('first');
    expect(manager.getConnection('second')?.configuration.name).toBe('second');
    expect(manager.getConnection('third')).toBeUndefined();
  });

  it("has the bindings and queues of the connection's options", async () => {
    const test = await start({
      providers: [Shop],
      rabbit: {
        exchanges: [
          { name: 'orders', type: 'topic' },
          { name: 'audit', type: 'fanout' },
        ],
        exchangeBindings: [{ source: 'orders', destination: 'audit', pattern: '#' }],
        queues: [{ name: 'audit', exchange: 'audit' }],
      },
    });
    await test.get(Shop).buy(1);
    expect((await test.queue('audit')).messages).toMatchObject([
      { payload: { number: 1 }, exchange: 'orders', routingKey: 'order.paid' },
    ]);
  });

  it('uses the given topology of other services', async () => {
    @Injectable()
    class Reports {
      @Subscribe({ exchange: 'foreign', routingKey: 'report.*', queue: 'reports' })
      write(): void {}

      @Subscribe({ queue: 'kept', declare: false })
      keep(): void {}
    }
    const test = await start(
      { providers: [Reports] },
      {
        topology: {
          exchanges: [{ name: 'foreign', type: 'topic' }],
          queues: [
            { name: 'kept', arguments: { 'x-queue-type': 'quorum' } },
            { name: 'watched', exchange: 'orders', routingKey: '#' },
          ],
        },
      },
    );
    expect(await test.publish('foreign', 'report.daily', 1)).toBe(true);
    expect(await test.publish('orders', 'order.paid', 2)).toBe(true);
    expect(await test.deliver(Reports, 'keep', 3)).toMatchObject({ outcome: 'ack' });
    expect(test.settlements(Reports, 'write')).toHaveLength(1);
    expect((await test.queue('watched')).messages).toMatchObject([{ payload: 2 }]);
  });

  it('rejects like a broker, and leaves nothing open', async () => {
    const foreign = { queue: 'reports', exchange: 'foreign', routingKey: 'a' };
    @Injectable()
    class Reports {
      @Subscribe(foreign)
      write(): void {}
    }
    const before = process.getActiveResourcesInfo().length;
    const booting = SettleTest.create(appOf({ providers: [Reports] })).compile();
    await expect(booting).rejects.toThrow(SettleStartupError);
    await expect(booting).rejects.toThrow("no exchange 'foreign'");
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before);
  });

  it('explains what its connection lacks in memory', async () => {
    const test = await start({ providers: [] });
    const amqp = test.get(AmqpConnection);
    expect(amqp.connected).toBe(true);
    for (const name of ['channel', 'connection', 'managedChannel', 'managedConnection'] as const) {
      expect(() => amqp[name]).toThrow(`AmqpConnection.${name} is not available in memory`);
    }
    await expect(amqp.request({} as never)).rejects.toThrow('request()');
    await expect(amqp.createSubscriber({} as never, {} as never, '')).rejects.toThrow('in memory');
    await expect(amqp.publish('nowhere', 'a', 1)).rejects.toThrow("no exchange 'nowhere'");
  });

  it('starts in under a second', async () => {
    await start({ providers: [Billing] }); // The first start includes the compilation.
    const begin = performance.now();
    await start({ providers: [Billing] });
    expect(performance.now() - begin).toBeLessThan(1_000);
  });
});

function configuration(): RabbitMQConfig {
  const exchanges = [{ name: 'orders', type: 'topic' }];
  return { uri: URI, exchanges, logger: SILENT } as RabbitMQConfig;
}
