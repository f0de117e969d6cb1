import { describe, expect, it } from 'vitest';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';

describe('deliveries that wait', async () => {
  const broker = await openBroker();

  it.each<['classic' | 'quorum']>([['classic'], ['quorum']])(
    'are forgotten with their channel: each runs once, when it is redelivered (%s)',
    async (queueType) => {
      const queue = unique('limits.lost');
      const proxy = await openProxy();
      const begun: number[] = [];
      const first = new Gate();
      const Handler = handlerOf({ queue, queueType, concurrency: 1 }, async (payload: number) => {
        begun.push(payload);
        if (begun.length === 1) await first.promise;
      });
      const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
      for (const payload of [1, 2, 3, 4]) await broker.send(queue, payload);
      await until(() => app.registry.get(Handler, 'handle').waiting === 3);
      proxy.cutAll();
      await until(() => app.registry.get(Handler, 'handle').waiting === 0);
      await until(() => app.registry.get(Handler, 'handle').waiting === 4);
      expect(begun).toEqual([1]);
      first.open();
      await app.settled(5);
      expect(begun).toEqual([1, 1, 2, 3, 4]);
      expect(app.settlements.map(({ status }) => status).sort()).toEqual([
        'abandoned',
        ...Array(4).fill('sent'),
      ]);
      await until(async () => (await broker.ready(queue)) === 0);
    },
  );

  it('cost no attempt when they are requeued by a pause, on quorum queues', async () => {
    const queue = unique('limits.attempts');
    const attempts: [number, number][] = [];
    const gates: Gate[] = [];
    const Handler = handlerOf(
      { queue, queueType: 'quorum', concurrency: 1, retry: { attempts: 5 } },
      async (payload: number, { attempt }) => {
        attempts.push([payload, attempt]);
        const gate = new Gate();
        gates.push(gate);
        await gate.promise;
      },
    );
    const { registry, settled } = await startApp({ providers: [Handler] });
    for (const payload of [1, 2]) await broker.send(queue, payload);
    await until(() => registry.get(Handler, 'handle').waiting === 1);
    const paused = registry.pause(Handler, 'handle');
    gates[0]?.open();
    await paused;
    await registry.resume(Handler, 'handle');
    await until(() => gates.length === 2);
    gates[1]?.open();
    await settled(3);
    expect(attempts).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });
});
