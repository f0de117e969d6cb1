import { describe, expect, it } from 'vitest';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { eventually, Gate, until } from '../support/eventually';
import { managed, waitForEmpty } from '../support/forced';
import { handlerOf } from '../support/handlers';

describe.each(['classic', 'quorum'] as const)('a %s queue that is deleted', async (queueType) => {
  const broker = await openBroker();

  it('is declared, bound and consumed again at once, by one consumer', async () => {
    const queue = unique('deleted');
    const exchange = unique('exchange');
    await broker.exchange(exchange, 'topic');
    const seen: unknown[] = [];
    const Handler = handlerOf({ queue, queueType, exchange, routingKey: 'key.*' }, (id: number) => {
      seen.push(id);
    });
    const { log, registry } = await startApp({ providers: [Handler] });
    await managed().deleteQueue(queue);
    await eventually(() =>
      expect(log.matching(/RabbitMQ cancelled the consumer of queue/, ['error'])).toHaveLength(1),
    );
    await eventually(async () => expect(await broker.consumers(queue)).toBe(1));
    await broker.publish(exchange, 'key.1', 1);
    await until(() => seen.length === 1);
    await waitForEmpty(queue);
    expect(registry.get(Handler, 'handle').state).toBe('consuming');
  });

  it('while handlers run: their outcomes are abandoned without harm', async () => {
    const queue = unique('deleted-busy');
    const finish = new Gate();
    const signals: AbortSignal[] = [];
    const Handler = handlerOf({ queue, queueType, prefetch: 3 }, async (_id, delivery) => {
      signals.push(delivery.signal);
      if (signals.length <= 3) await finish.promise;
    });
    const { settled, settlements } = await startApp({ providers: [Handler] });
    for (let id = 1; id <= 3; id += 1) await broker.send(queue, id);
    await until(() => signals.length === 3);
    await managed().deleteQueue(queue);
    await until(() => signals.every(({ aborted }) => aborted));
    finish.open();
    await settled(3);
    expect(settlements.map(({ status }) => status)).toEqual(Array(3).fill('abandoned'));
    await eventually(async () => expect(await broker.consumers(queue)).toBe(1));
    await broker.send(queue, 4);
    await settled(4);
    await waitForEmpty(queue);
    expect(signals).toHaveLength(4);
  });

  it('declared elsewhere: is reported as missing, and consumed once it exists again', async () => {
    const queue = unique('deleted-foreign');
    const options = { arguments: { 'x-queue-type': queueType } };
    await broker.declare(queue, options);
    const seen: unknown[] = [];
    const Handler = handlerOf({ queue, queueType, declare: false }, (id: number) => {
      seen.push(id);
    });
    const { log, registry } = await startApp({ providers: [Handler] });
    await managed().deleteQueue(queue);
    await until(() => registry.get(Handler, 'handle').state === 'refused');
    expect(log.matching(/\[refused\] .*404/, ['error'])).not.toEqual([]);
    await broker.declare(queue, options);
    await until(() => registry.get(Handler, 'handle').state === 'consuming');
    await broker.send(queue, 1);
    await until(() => seen.length === 1);
    await waitForEmpty(queue);
  });

  it('while the subscription is paused: is declared again on resume', async () => {
    const queue = unique('deleted-paused');
    const seen: unknown[] = [];
    const Handler = handlerOf({ queue, queueType }, (id: number) => {
      seen.push(id);
    });
    const { registry } = await startApp({ providers: [Handler] });
    await registry.pause(Handler, 'handle');
    await managed().deleteQueue(queue);
    await registry.resume(Handler, 'handle');
    await until(() => registry.get(Handler, 'handle').state === 'consuming');
    await eventually(async () => expect(await broker.consumers(queue)).toBe(1));
    await broker.send(queue, 1);
    await until(() => seen.length === 1);
  });
});
