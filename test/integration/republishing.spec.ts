import { describe, expect, it } from 'vitest';
import { fixed } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { managed, waitForEmpty } from '../support/forced';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';
import { type Frame, fromClient, fromServer } from '../support/proxy';

/** The frames that settle and republish a message, in order. */
function orderOf(frames: readonly Frame[], consuming: number): string[] {
  return frames.flatMap(({ direction, method, connection }) => {
    const isOriginal = connection === consuming;
    if (direction === 'client' && method === 'basic.publish') return ['publish'];
    if (method !== 'basic.ack') return [];
    if (direction === 'server') return ['confirm'];
    return [isOriginal ? 'ack' : 'acknowledge on the wrong connection'];
  });
}

describe.each(['classic', 'quorum'] as const)('republishing, %s queue', async (queueType) => {
  const broker = await openBroker();

  it('acknowledges the original only after the confirm', async () => {
    const queue = unique('order');
    const proxy = await openProxy();
    const Handler = handlerOf(
      { queue, queueType, retry: { attempts: 1 }, deadLetter: `${queue}.dead`, onError: 'retry' },
      () => {
        throw new Error('bad one');
      },
    );
    await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    const consuming = proxy.frames.find(fromClient('basic.consume', { queue }))?.connection ?? 0;
    const confirm = proxy.hold(fromServer('basic.ack'));
    await broker.send(queue, 1);
    await confirm.caught(1);
    await broker.waitForReady(`${queue}.dead`, 1);
    expect(orderOf(proxy.frames, consuming)).toEqual(['publish', 'confirm']);
    confirm.release();
    await proxy.waitFor(fromClient('basic.ack'));
    expect(orderOf(proxy.frames, consuming)).toEqual(['publish', 'confirm', 'ack']);
    await waitForEmpty(queue);
  });

  it.each(['before', 'after'])(
    'never loses the message when the process dies %s the publish reached the broker',
    async (when) => {
      const queue = unique('crash');
      const proxy = await openProxy();
      let runs = 0;
      const options = { queue, queueType, deadLetter: `${queue}.dead`, retry: { attempts: 5 } };
      const Handler = handlerOf(options, () => {
        runs += 1;
        throw new Error('bad one');
      });
      const first = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
      const caught =
        when === 'before'
          ? proxy.hold(fromClient('basic.publish'))
          : proxy.hold(fromServer('basic.ack'));
      await broker.send(queue, 1);
      await caught.caught(1);
      if (when === 'after') await broker.waitForReady(`${queue}.dead`, 1);
      // To the broker this looks like the end of the process: nothing more arrives, nothing is acknowledged.
      proxy.refuse(true);
      proxy.cutAll();
      await broker.waitForReady(queue, 1);
      expect(proxy.count('client', 'basic.ack')).toBe(0);
      await first.close();
      await startApp({ providers: [Handler] });
      await broker.waitForReady(`${queue}.dead`, when === 'before' ? 1 : 2);
      await waitForEmpty(queue);
      expect(runs).toBe(2);
    },
  );

  it.each(['before', 'after'])(
    'does not repeat a publish after an outage %s it reached the broker: the original is redelivered',
    async (when) => {
      const queue = unique('outage');
      const proxy = await openProxy();
      const attempts = 3;
      const runs = new Map<number, number>();
      const Handler = handlerOf(
        {
          queue,
          queueType,
          prefetch: 50,
          // Long enough that no message returns before all have been delivered.
          retry: { attempts, backoff: fixed(1_000) },
          onError: 'retryAfter',
        },
        (id: number, delivery) => {
          runs.set(id, (runs.get(id) ?? 0) + 1);
          if (!delivery.isLastAttempt) throw new Error('once more');
        },
      );
      const { settled, settlements } = await startApp({
        providers: [Handler],
        rabbit: { uri: proxy.url },
      });
      const caught = proxy.hold(
        when === 'before' ? fromClient('basic.publish') : fromServer('basic.ack'),
        // The other messages still have their waiting queue declared.
        { onlyMatching: true },
      );
      for (let id = 1; id <= 50; id += 1) await broker.send(queue, id);
      await caught.caught(1);
      await until(() => proxy.count('client', 'basic.publish') === 50);
      const published = when === 'before' ? 0 : 50;
      await until(async () => (await holding(queue)) === 50 + published);
      proxy.refuse(true);
      proxy.cutAll();
      caught.release();
      await settled(50);
      // During the outage nothing is buffered to be published later.
      expect(settlements.map(({ status }) => status)).toEqual(Array(50).fill('abandoned'));
      expect(proxy.count('client', 'basic.publish')).toBe(50);
      proxy.refuse(false);
      const ends = (): number =>
        settlements.filter(({ status, decision }) => status === 'sent' && decision.kind === 'ack')
          .length;
      await until(() => ends() >= 50 + published, { timeoutMs: 20_000, what: 'all ends' });
      await waitForEmpty(queue);
      expect(ends()).toBe(50 + published);
      // One series of attempts for the original and one for the republished message that the broker had.
      const most = published === 0 ? attempts + 1 : 2 * attempts;
      expect(runs.size).toBe(50);
      for (const count of runs.values()) {
        expect(count).toBeGreaterThanOrEqual(attempts);
        expect(count).toBeLessThanOrEqual(most);
      }
    },
  );
});

/** The number of messages, ready and unacknowledged, in all queues whose name begins with this. */
async function holding(prefix: string): Promise<number> {
  const queues = (await managed().queues()).filter(({ name }) => name.startsWith(prefix));
  return queues.reduce((sum, one) => sum + one.messages_ready + one.messages_unacknowledged, 0);
}
