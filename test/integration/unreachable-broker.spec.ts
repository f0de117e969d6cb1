import { describe, expect, it } from 'vitest';
import { startApp } from '../support/app';
import { Broker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { managed, waitForEmpty } from '../support/forced';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';

describe.each(['classic', 'quorum'] as const)('a %s queue', (queueType) => {
  it('is consumed later if golevelup does not wait for a broker that is down at startup', async () => {
    const queue = unique('later');
    const proxy = await openProxy();
    proxy.refuse(true);
    const seen: number[] = [];
    const Handler = handlerOf({ queue, queueType }, (id: number) => {
      seen.push(id);
    });
    const start = Date.now();
    const { registry } = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url, connectionInitOptions: { wait: false } },
      wait: false,
    });
    expect(Date.now() - start).toBeLessThan(5_000);
    expect(registry.get(Handler, 'handle').state).toBe('starting');
    await until(() => proxy.refusedCount >= 2);
    proxy.refuse(false);
    await registry.started;
    const broker = await Broker.connect();
    await broker.send(queue, 1);
    await broker.close();
    await until(() => seen.length === 1);
    await waitForEmpty(queue);
  });

  it('has one consumer after a restart of the broker, and running messages are redelivered', async () => {
    const queue = unique('restarted');
    const finish = new Gate();
    const runs: [number, boolean][] = [];
    const Handler = handlerOf(
      { queue, queueType, retry: { attempts: 5 } },
      async (id: number, delivery) => {
        runs.push([id, delivery.redelivered]);
        if (runs.length === 1) await finish.promise;
      },
    );
    const { registry, settlements } = await startApp({ providers: [Handler] });
    const before = await Broker.connect();
    await before.send(queue, 1, { persistent: true });
    await until(() => runs.length === 1);
    await before.close();
    await managed().restartNode();
    await until(() => runs.length === 2, { timeoutMs: 30_000 });
    finish.open();
    await until(() => settlements.length === 2);
    expect(settlements.map(({ status }) => status).sort()).toEqual(['abandoned', 'sent']);
    const after = await Broker.connect();
    await after.send(queue, 2);
    await until(() => runs.length === 3);
    await after.close();
    await waitForEmpty(queue);
    // A restarted node does not know that it had delivered a classic queue's message.
    expect(runs.map(([id]) => id)).toEqual([1, 1, 2]);
    expect(registry.get(Handler, 'handle')).toMatchObject({ state: 'consuming', inFlight: 0 });
  }, 90_000);
});

it('fails the startup if golevelup waits for a broker that stays down', async () => {
  const proxy = await openProxy();
  proxy.refuse(true);
  const Handler = handlerOf({ queue: unique('never') }, () => undefined);
  const started = startApp({
    providers: [Handler],
    rabbit: {
      uri: proxy.url,
      connectionInitOptions: { wait: true, reject: true, timeout: 1_000 },
    },
  });
  await expect(started).rejects.toThrow(/connect/i);
});
