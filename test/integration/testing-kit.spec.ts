import { AmqpConnection, type RabbitMQConfig, RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Injectable, type ModuleMetadata } from '@nestjs/common';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type Delivery,
  drop,
  type Outcome,
  Panic,
  retry,
  retryAfter,
  SettleModule,
  Subscribe,
  SubscriptionRegistry,
} from '../../lib';
import { SettleTest, type SettleTestOptions } from '../../lib/testing';
import { unique, url } from '../support/broker';

const SILENT = { log: () => {}, warn: () => {}, error: () => {} };

type Options = Pick<SettleTestOptions, 'broker' | 'url'>;

describe.each<[string, Options]>([
  ['in memory', { broker: 'memory' }],
  ['on RabbitMQ', { broker: 'rabbitmq', url }],
])('one test, %s', (_where, options) => {
  describe.each(['classic', 'quorum'] as const)('with a %s queue', (queueType) => {
    /** A shop with unique names; nothing in it depends on the broker. */
    function shop() {
      const name = unique('kit');

      @Injectable()
      class Billing {
        @Subscribe({
          exchange: name,
          routingKey: 'paid',
          queue: `${name}.billing`,
          queueType,
          retry: { attempts: 3 },
          deadLetter: `${name}.dead`,
        })
        charge(payload: string, ...rest: [unknown, unknown, Delivery]): Outcome | void {
          if (payload === 'drop') return drop('not ours');
          if (payload === 'again') return retry();
          if (payload === 'later' && rest[2].attempt === 1) return retryAfter(1_500);
          if (payload === 'fail') throw new RangeError('no');
          if (payload === 'panic') throw new Panic('a bug');
        }
      }

      @Injectable()
      class Shop {
        constructor(private readonly amqp: AmqpConnection) {}

        async pay(payload: string): Promise<void> {
          await this.amqp.publish(name, 'paid', payload, { messageId: payload });
        }
      }

      const metadata: ModuleMetadata = {
        imports: [
          RabbitMQModule.forRoot({
            uri: 'amqp://nowhere.invalid',
            exchanges: [{ name, type: 'topic' }],
            logger: SILENT,
          } as RabbitMQConfig),
          SettleModule.forRoot({ logger: SILENT }),
        ],
        providers: [Billing, Shop],
      };
      return { name, Billing, Shop, metadata };
    }

    async function start(metadata: ModuleMetadata, more: SettleTestOptions = {}) {
      const test = await SettleTest.create(metadata, { ...options, ...more }).compile();
      onTestFinished(() => test.close());
      return test;
    }

    it('delivers to a subscription and returns the settlement', async () => {
      const { name, Billing, metadata } = shop();
      const test = await start(metadata);
      expect(await test.deliver(Billing, 'charge', 'ok')).toMatchObject({
        outcome: 'ack',
        decision: 'ack',
        status: 'sent',
        attempt: 1,
      });
      expect(await test.deliver(Billing, 'charge', 'drop')).toMatchObject({
        decision: 'deadLetter',
        reason: 'drop',
        republished: { queue: `${name}.dead` },
      });
      expect(await test.deliver(Billing, 'charge', 'fail')).toMatchObject({
        reason: 'error',
        error: expect.any(RangeError),
      });
      await test.idle();
      const { messages, ready, consumers } = await test.queue(`${name}.dead`);
      expect({ ready, consumers }).toEqual({ ready: 2, consumers: 0 });
      expect(messages).toMatchObject([
        { payload: 'drop', exchange: '', headers: { 'x-settle-error-message': 'not ours' } },
        { payload: 'fail', headers: { 'x-settle-error-name': 'RangeError' } },
      ]);
    });

    it('runs from the publisher to every attempt', async () => {
      const { name, Billing, Shop, metadata } = shop();
      const test = await start(metadata);
      await test.get(Shop).pay('again');
      await test.idle();
      expect(test.settlements(Billing, 'charge')).toMatchObject([
        { attempt: 1, outcome: 'retry' },
        { attempt: 2, outcome: 'retry' },
        { attempt: 3, outcome: 'retry', decision: 'deadLetter', reason: 'attempts' },
      ]);
      expect(await test.queue(`${name}.billing`)).toMatchObject({ ready: 0, consumers: 1 });
      expect((await test.queue(`${name}.dead`)).messages).toMatchObject([
        { headers: { 'x-settle-exchange': name, 'x-settle-routing-key': 'paid' } },
      ]);
    });

    it('waits for a delay', async () => {
      const { Billing, metadata } = shop();
      const test = await start(metadata);
      expect(await test.deliver(Billing, 'charge', 'later')).toMatchObject({ delay: 1_500 });
      await test.advance(100);
      expect(test.settlements(Billing, 'charge')).toHaveLength(1);
      await test.advance(2_500);
      expect(test.settlements(Billing, 'charge')).toMatchObject([
        { outcome: 'retryAfter' },
        { outcome: 'ack', attempt: 2 },
      ]);
    });

    it('records failFast, and leaves the message in the queue', async () => {
      const { name, Billing, metadata } = shop();
      const test = await start(metadata);
      expect(await test.deliver(Billing, 'charge', 'panic')).toMatchObject({
        decision: 'leaveUnsettled',
      });
      await test.idle();
      expect(test.failFastEvent?.error).toBeInstanceOf(Panic);
      expect(test.get(SubscriptionRegistry).get(Billing, 'charge').state).toBe('stopped');
      expect(await test.queue(`${name}.billing`)).toMatchObject({
        ready: 1,
        messages: [{ payload: 'panic', redelivered: true }],
      });
    });

    it('declares the topology of other services, and reports unroutable messages', async () => {
      const { name, metadata } = shop();
      const topology = {
        exchanges: [{ name: `${name}.foreign`, type: 'fanout' as const }],
        queues: [{ name: `${name}.watched`, exchange: `${name}.foreign` }],
      };
      const test = await start(metadata, { topology });
      expect(await test.publish(`${name}.foreign`, '', { id: 1 })).toBe(true);
      expect(await test.publish(name, 'nobody', { id: 2 })).toBe(false);
      expect((await test.queue(`${name}.watched`)).messages).toMatchObject([
        { payload: { id: 1 } },
      ]);
    });
  });
});
