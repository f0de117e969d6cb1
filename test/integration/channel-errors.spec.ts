import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { describe, expect, it } from 'vitest';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { waitForEmpty } from '../support/forced';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';
import { basicAck, fromClient } from '../support/proxy';

describe.each(['classic', 'quorum'] as const)('a channel error, %s queue', async (queueType) => {
  const broker = await openBroker();

  it.each(['with', 'without'])(
    'caused by the application publishing to a missing exchange is survived, %s an error listener',
    async (listener) => {
      const queues = [unique('first'), unique('second')] as const;
      const runs: boolean[] = [];
      const finish = new Gate();
      const handlers = queues.map((queue) =>
        handlerOf({ queue, queueType }, async (_payload, delivery) => {
          runs.push(delivery.redelivered);
          await finish.promise;
        }),
      );
      const { app, settlements } = await startApp({ providers: handlers });
      const connection = app.get(AmqpConnection);
      if (listener === 'with') connection.channel.on('error', () => undefined);
      for (const queue of queues) await broker.send(queue, 1);
      await until(() => runs.length === 2);
      const closed = new Promise((resolve) => connection.channel.once('close', resolve));
      void connection.publish('nope', 'key', {}).catch(() => undefined);
      await closed;
      // Without a listener amqplib closes the whole connection, and each message is redelivered once.
      const isLost = listener === 'without';
      if (isLost) await until(() => runs.length === 4);
      finish.open();
      for (const queue of queues) await waitForEmpty(queue);
      expect(runs).toEqual([false, false, ...(isLost ? [true, true] : [])]);
      const sent = settlements.filter(({ status }) => status === 'sent');
      expect(sent).toHaveLength(2);
      for (const queue of queues) await broker.send(queue, 2);
      await until(() => runs.length === (isLost ? 6 : 4));
    },
  );

  it('on the channel of one subscription affects no other', async () => {
    const proxy = await openProxy();
    const queues = [unique('first'), unique('second')] as const;
    const runs = new Map<string, boolean[]>(queues.map((queue) => [queue, []]));
    const signals = new Map<string, AbortSignal>();
    const finish = new Gate();
    const [First, Second] = queues.map((queue) =>
      handlerOf({ queue, queueType, prefetch: 5 }, async (_payload, delivery) => {
        runs.get(queue)?.push(delivery.redelivered);
        signals.set(queue, delivery.signal);
        await finish.promise;
      }),
    ) as [ReturnType<typeof handlerOf>, ReturnType<typeof handlerOf>];
    const { log, registry, settlements } = await startApp({
      providers: [First, Second],
      rabbit: { uri: proxy.url },
    });
    for (const queue of queues) for (let id = 1; id <= 5; id += 1) await broker.send(queue, id);
    await until(() => [...runs.values()].every((some) => some.length === 5));
    const consume = proxy.frames.find(fromClient('basic.consume', { queue: queues[0] }));
    const { connection, channel } = consume ?? { connection: 0, channel: 0 };
    // An acknowledgement of an unknown tag, as other code on this channel might send it.
    const before = proxy.connectionCount;
    proxy.inject('client', connection, [basicAck(channel, 99)]);
    await until(() => runs.get(queues[0])?.length === 10);
    expect(signals.get(queues[1])?.aborted).toBe(false);
    finish.open();
    for (const queue of queues) await waitForEmpty(queue);
    expect(runs.get(queues[0])).toEqual([...Array(5).fill(false), ...Array(5).fill(true)]);
    expect(runs.get(queues[1])).toEqual(Array(5).fill(false));
    expect(proxy.connectionCount).toBe(before);
    expect(log.matching(/\[channel-closed\] .*PRECONDITION_FAILED/, ['error'])).toHaveLength(1);
    expect(registry.get(First, 'handle').abandoned).toBe(5);
    expect(registry.get(Second, 'handle')).toMatchObject({ abandoned: 0, state: 'consuming' });
    expect(settlements.filter(({ status }) => status === 'sent')).toHaveLength(10);
  });
});
