import { type RabbitMQConfig, RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Injectable, type ModuleMetadata } from '@nestjs/common';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Delivery, type Outcome, Panic, retry, SettleModule, Subscribe } from '../../lib';
import { SettleTest, type SettleTestOptions } from '../../lib/testing';
import { unique, url } from '../support/broker';
import { serverIs } from '../support/versions';

const SILENT = { log: () => {}, warn: () => {}, error: () => {} };

type Options = Pick<SettleTestOptions, 'broker' | 'url' | 'version'>;

const version = serverIs({ from: '4.3' }) ? '4.3' : serverIs({ from: '4.0' }) ? '4.0' : '3.10';

describe.each<[string, Options]>([
  ['in memory', { broker: 'memory', version }],
  ['on RabbitMQ', { broker: 'rabbitmq', url }],
])('the testing kit %s', (_where, options) => {
  function shop(config: Partial<RabbitMQConfig> = {}) {
    const queue = unique('kit');

    @Injectable()
    class Stock {
      @Subscribe({ queue, retry: { attempts: 2 }, deadLetter: `${queue}.dead` })
      take(payload: string, ...rest: [unknown, unknown, Delivery]): Outcome | void {
        if (payload === 'panic') throw new Panic('a bug');
        if (rest[2].attempt === 1) return retry();
      }
    }

    const metadata: ModuleMetadata = {
      imports: [
        RabbitMQModule.forRoot({
          uri: 'amqp://guest:guest@nowhere.invalid',
          logger: SILENT,
          ...config,
        } as RabbitMQConfig),
        SettleModule.forRoot({ logger: SILENT }),
      ],
      providers: [Stock],
    };
    return { queue, Stock, metadata };
  }

  async function start(metadata: ModuleMetadata, more: SettleTestOptions = {}) {
    const test = await SettleTest.create(metadata, { ...options, ...more }).compile();
    onTestFinished(() => test.close());
    return test;
  }

  it('resolves deliver with the settlement of the delivery, not of its retry', async () => {
    const { Stock, metadata } = shop();
    const test = await start(metadata);
    for (let count = 0; count < 30; count += 1) {
      expect(await test.deliver(Stock, 'take', 'again')).toMatchObject({
        attempt: 1,
        decision: 'republish',
      });
    }
  });

  it('lists the settlements of a message in the order of its attempts', async () => {
    const { Stock, metadata } = shop();
    const test = await start(metadata);
    for (let count = 0; count < 30; count += 1) {
      const messageId = `m${count}`;
      await test.deliver(Stock, 'take', 'again', { messageId });
      await test.idle();
      const settlements = test.settlements(Stock, 'take');
      const own = settlements.filter((settlement) => settlement.messageId === messageId);
      expect(own.map(({ attempt }) => attempt)).toEqual([1, 2]);
    }
  });

  it('delivers a message that carries an attempt', async () => {
    const { queue, Stock, metadata } = shop();
    const test = await start(metadata);
    const headers = { 'x-settle-attempt': 2, 'x-settle-queue': queue };
    expect(await test.deliver(Stock, 'take', 'again', { headers })).toMatchObject({
      attempt: 2,
      decision: 'ack',
    });
  });

  it('shows the queues after close, and after failFast', async () => {
    const { queue, Stock, metadata } = shop();
    const test = await start(metadata);
    await test.deliver(Stock, 'take', 'panic');
    await test.idle();
    expect(await test.queue(queue)).toMatchObject({ ready: 1, consumers: 0 });
    await test.close();
    expect(await test.queue(queue)).toMatchObject({
      ready: 1,
      consumers: 0,
      messages: [{ payload: 'panic', redelivered: true }],
    });
    await expect(test.queue(`${queue}.missing`)).rejects.toThrow('404 (NOT-FOUND)');
  });

  it('refuses an unknown type of exchange when the application starts', async () => {
    const exchanges = [{ name: unique('exchange'), type: 'x-delayed-message' }];
    const { metadata } = shop({ exchanges, connectionInitOptions: { timeout: 2_000 } });
    await expect(SettleTest.create(metadata, options).compile()).rejects.toThrow();
  });

  it('rejects publish with what the client or the server refuses', async () => {
    const { queue, metadata } = shop();
    const test = await start(metadata);
    const publish = (exchange: string, properties: object) =>
      test.publish(exchange, queue, 'text', { ...properties });
    await expect(publish('', { userId: 'other' })).rejects.toThrow(
      "406 (PRECONDITION-FAILED) with message \"PRECONDITION_FAILED - user_id property set to 'other' but authenticated user was 'guest'\"",
    );
    await expect(publish(`${queue}.missing`, {})).rejects.toThrow(
      `404 (NOT-FOUND) with message "NOT_FOUND - no exchange '${queue}.missing' in vhost '/'"`,
    );
    await expect(publish('', { messageId: 5 })).rejects.toThrow(TypeError);
    await expect(publish('', { priority: 300 })).rejects.toThrow(RangeError);
    expect(await publish('', {})).toBe(true);
  });
});
