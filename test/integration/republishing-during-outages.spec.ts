import { describe, expect, it, onTestFinished } from 'vitest';
import { drop, retryAfter } from '../../lib';
import { startApp } from '../support/app';
import { management, openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';

describe.each(['classic', 'quorum'] as const)('republishing from a %s queue', async (queueType) => {
  const broker = await openBroker();

  it('during outages: each message is attempted as often as its attempts and the outages allow', async () => {
    const queue = unique('outage');
    const proxy = await openProxy();
    const warnings: string[] = [];
    const warned = ({ message }: Error): unknown => warnings.push(message);
    process.on('warning', warned);
    onTestFinished(() => {
      process.off('warning', warned);
    });
    const runs = new Map<number, number>();
    const Handler = handlerOf(
      { queue, queueType, prefetch: 50, retry: { attempts: 3 }, deadLetter: `${queue}.dead` },
      (id: number) => {
        runs.set(id, (runs.get(id) ?? 0) + 1);
        return retryAfter(200);
      },
    );
    const app = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url },
      settle: { republishTimeout: '2s' },
    });
    const all = Array.from({ length: 50 }, (_, id) => id);
    await Promise.all(all.map((id) => broker.send(queue, id)));
    await until(() => proxy.count('client', 'basic.publish') >= 25);
    proxy.refuse(true);
    proxy.cutAll();
    const refusedBefore = proxy.refusedCount;
    await until(() => proxy.refusedCount >= refusedBefore + 4, { timeoutMs: 15_000 });
    proxy.refuse(false);
    const dead = new Set<number>();
    await until(
      async () => {
        await broker.channel(async (channel) => {
          for (;;) {
            const message = await channel.get(`${queue}.dead`, { noAck: true });
            if (message === false) return;
            dead.add(JSON.parse(message.content.toString()));
          }
        });
        return dead.size === all.length;
      },
      { timeoutMs: 25_000 },
    );
    await until(async () => (await broker.ready(queue)) === 0);
    // An outage between a publish and its confirm duplicates the message; each has attempts of its own.
    for (const id of all) expect(runs.get(id)).toBeLessThanOrEqual(3 + 3);
    expect(app.registry.get(Handler, 'handle').inFlight).toBe(0);
    expect(warnings).toEqual([]);
  }, 60_000);

  it('during a memory alarm: acknowledgements are sent, nothing is published', async () => {
    const queue = unique('alarm');
    const proxy = await openProxy();
    const Handler = handlerOf({ queue, queueType, deadLetter: `${queue}.dead` }, (id: string) =>
      id === 'good' ? undefined : drop(),
    );
    const app = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url },
      settle: { republishTimeout: '1s' },
    });
    const of = (settlement: string): number =>
      app.settlements.filter((each) => each.status === settlement).length;
    // The connection for republishing is open already: the broker blocks it when it publishes.
    await broker.send(queue, 'bad 0');
    await app.settled(1);
    await app.registry.pause(Handler, 'handle');
    for (const id of ['bad 1', 'good', 'bad 2', 'good', 'good']) await broker.send(queue, id);
    await management.setMemoryAlarm(true);
    onTestFinished(() => management.setMemoryAlarm(false));
    proxy.clearFrames();
    await app.registry.resume(Handler, 'handle');
    await until(() => of('sent') === 4);
    // Three acknowledged during the alarm: by the broker, not only written to the socket.
    await until(async () => {
      const listed = (await management.queues()).find(({ name }) => name === queue);
      return (listed?.messages_ready ?? 9) + (listed?.messages_unacknowledged ?? 9) === 2;
    });
    await until(() => of('republishFailed') >= 4, { timeoutMs: 20_000 });
    const published = proxy.count('client', 'basic.publish');
    expect(published).toBeLessThanOrEqual(2);
    expect(proxy.count('server', 'connection.blocked')).toBe(1);
    expect(proxy.count('client', 'basic.reject')).toBe(0);
    await management.setMemoryAlarm(false);
    await until(() => of('sent') === 6, { timeoutMs: 20_000 });
    await broker.waitForReady(queue, 0);
    // What the broker had not read arrives after the alarm: each message once or twice.
    const dead: string[] = [];
    await broker.waitForReady(`${queue}.dead`, 3 + published);
    for (let taken = 0; taken < 3 + published; taken += 1) {
      dead.push(JSON.parse((await broker.take(`${queue}.dead`)).content.toString()));
    }
    expect([...new Set(dead)].sort()).toEqual(['bad 0', 'bad 1', 'bad 2']);
  }, 60_000);

  it('during an alarm shorter than republishTimeout: messages are only delayed', async () => {
    const queue = unique('short');
    const proxy = await openProxy();
    let runs = 0;
    const Handler = handlerOf({ queue, queueType, deadLetter: `${queue}.dead` }, () => {
      runs += 1;
      return drop();
    });
    const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    await app.registry.pause(Handler, 'handle');
    for (let id = 0; id < 5; id += 1) await broker.send(queue, id);
    await management.setMemoryAlarm(true);
    onTestFinished(() => management.setMemoryAlarm(false));
    await app.registry.resume(Handler, 'handle');
    await until(() => proxy.count('server', 'connection.blocked') === 1);
    expect(app.settlements).toEqual([]);
    await management.setMemoryAlarm(false);
    await app.settled(5);
    expect(runs).toBe(5);
    await broker.waitForReady(`${queue}.dead`, 5);
    expect(await broker.ready(queue)).toBe(0);
  }, 60_000);
});
