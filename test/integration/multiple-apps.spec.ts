import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { Injectable, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SettleModule, Subscribe, SubscriptionRegistry } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';

/** A provider that records what it handles. */
function collector(queue: string): { readonly type: Type; readonly handled: unknown[] } {
  const handled: unknown[] = [];

  @Injectable()
  class Collector {
    @Subscribe({ queue })
    handle(payload: unknown): void {
      handled.push(payload);
    }
  }
  return { type: Collector, handled };
}

describe('two applications in one process', async () => {
  const broker = await openBroker();

  it('consume independently; the first can be started again', async () => {
    const queues = { one: unique('one'), two: unique('two') };
    const first = collector(queues.one);
    const second = collector(queues.two);
    const appOne = await startApp({ providers: [first.type] });
    const appTwo = await startApp({ providers: [second.type] });
    expect(appOne.registry.list().map(({ subscription }) => subscription.queue)).toEqual([
      queues.one,
    ]);
    expect(appTwo.registry.list().map(({ subscription }) => subscription.queue)).toEqual([
      queues.two,
    ]);
    await broker.send(queues.one, 'a');
    await broker.send(queues.two, 'b');
    await until(() => first.handled.length + second.handled.length === 2);
    expect([first.handled, second.handled]).toEqual([['a'], ['b']]);

    await appOne.close();
    const again = await startApp({ providers: [first.type] });
    await broker.send(queues.one, 'c');
    await until(() => first.handled.length === 2);
    await again.close();
    await appTwo.close();
  });

  it('share the connections of RabbitMQModule: when one closes them, the other logs it once, and can close', async () => {
    const [queueOne, queueTwo] = [unique('one'), unique('two')];
    const appOne = await startApp({ providers: [collector(queueOne).type] });
    const appTwo = await startApp({ providers: [collector(queueTwo).type] });
    await appOne.close();
    await until(() => appTwo.registry.list().every(({ state }) => state === 'reconnecting'));
    expect(appTwo.log.matching(/./, ['error'])).toEqual([expect.stringContaining(queueTwo)]);
    const startedAt = performance.now();
    await appTwo.close();
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(appTwo.log.matching(/./, ['error'])).toHaveLength(1);
  });

  it('are independent if one has a connection of its own', async () => {
    const [queueOne, queueTwo] = [unique('one'), unique('two')];
    const own = collector(queueTwo);
    const connection = new AmqpConnection({ uri: url });
    onTestFinished(() => connection.close());
    await connection.init();

    @Module({
      imports: [SettleModule.forRoot()],
      providers: [own.type, { provide: AmqpConnection, useValue: connection }],
    })
    class OwnModule {}
    const appOne = await startApp({ providers: [collector(queueOne).type] });
    const appTwo = await NestFactory.create(OwnModule, { logger: false });
    await appTwo.init();
    await appTwo.get(SubscriptionRegistry).started;
    await appOne.close();
    await broker.send(queueTwo, 'still here');
    await until(() => own.handled.length === 1);
    await appTwo.close();
    expect(await broker.consumers(queueTwo)).toBe(0);
  });
});
