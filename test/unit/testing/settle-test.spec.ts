import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Injectable, Module } from '@nestjs/common';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Delivery,
  drop,
  exponential,
  type Outcome,
  retryAfter,
  SettleModule,
  Subscribe,
} from '../../../lib';
import { SettleTest } from '../../../lib/testing';

@Injectable()
class Billing {
  attempts: number[] = [];

  @Subscribe({
    exchange: 'orders',
    routingKey: 'order.paid',
    queue: 'billing',
    queueType: 'quorum',
    retry: { attempts: 6, backoff: exponential('1s', { factor: 4, max: '15m' }) },
    deadLetter: 'billing.dead',
  })
  charge(
    order: { ok?: boolean; drop?: boolean },
    ...rest: [unknown, unknown, Delivery]
  ): Outcome | void {
    this.attempts.push(rest[2].attempt);
    if (order.drop) return drop('not ours');
    if (!order.ok) return retryAfter();
  }
}

@Module({
  imports: [
    RabbitMQModule.forRoot({
      uri: 'amqp://nowhere.invalid',
      exchanges: [{ name: 'orders', type: 'topic' }],
    }),
    SettleModule.forRoot({ logger: { log() {}, warn() {}, error() {} } }),
  ],
  providers: [Billing],
})
class AppModule {}

describe('the testing kit in memory', () => {
  let test: SettleTest;
  afterEach(() => test.close());

  it('delivers to a subscription and tells its settlement', async () => {
    test = await SettleTest.create({ imports: [AppModule] }).compile();
    expect(await test.deliver(Billing, 'charge', { ok: true })).toMatchObject({
      outcome: 'ack',
      decision: 'acknowledge',
      attempt: 1,
    });
    expect(await test.deliver(Billing, 'charge', { drop: true })).toMatchObject({
      outcome: 'drop',
      decision: 'copyToDeadLetter',
      reason: 'drop',
    });
    expect((await test.queue('billing.dead')).ready).toBe(1);
  });

  it('moves the clock through every backoff', async () => {
    test = await SettleTest.create({ imports: [AppModule] }).compile();
    await test.publish('orders', 'order.paid', {});
    await test.idle();
    await test.advance('1h');
    expect(test.get(Billing).attempts).toEqual([1, 2, 3, 4, 5, 6]);
    const dead = await test.queue('billing.dead');
    expect(dead.messages[0]?.headers).toMatchObject({ 'x-settle-reason': 'attempts' });
  });
});
