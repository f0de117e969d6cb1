import { describe, expect, it } from 'vitest';
import {
  ack,
  type Delivery,
  drop,
  Panic,
  retry,
  retryAfter,
  type SubscribeOptions,
} from '../../lib';
import { startApp, type TestApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';
import type { AmqpProxy, Frame } from '../support/proxy';
import { itOn } from '../support/versions';

// The frames that settle and publish, and the broker's confirms.
function framesOf(proxy: AmqpProxy): string[] {
  return proxy.frames.flatMap(({ direction, method, details }: Frame) => {
    if (direction === 'server') return method === 'basic.ack' ? ['confirm'] : [];
    if (method === 'basic.publish') return [`publish to ${details.routingKey}`];
    if (method === 'basic.ack') return ['ack'];
    if (method === 'basic.reject') return [`reject, requeue ${details.requeue}`];
    if (method === 'basic.nack') return [`nack, requeue ${details.requeue}`];
    return [];
  });
}

// The acknowledgements of the original and the republished message may share a frame.
function unlessJoined(frames: readonly string[]): string[] {
  return frames.filter((frame, index) => frame !== 'ack' || frames[index - 1] !== 'ack');
}

describe.each(['classic', 'quorum'] as const)('the outcomes on a %s queue', async (queueType) => {
  const broker = await openBroker();
  const tail = queueType === 'classic' ? 'wait' : 'waitq';

  /** Sends one message; the handler does `work` in its first run, and nothing in later runs. */
  async function settle(
    options: SubscribeOptions,
    work: (delivery: Delivery) => unknown,
  ): Promise<{ queue: string; frames: () => string[]; app: TestApp; runs: number[] }> {
    const queue = unique('table');
    const proxy = await openProxy();
    const runs: number[] = [];
    const Handler = handlerOf({ ...options, queue, queueType }, (_payload, delivery) => {
      runs.push(delivery.attempt);
      return runs.length === 1 ? work(delivery) : undefined;
    });
    const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    await broker.send(queue, { id: 1 }, { messageId: 'm1' });
    await app.settled(1);
    const frames = (): string[] => framesOf(proxy).map((frame) => frame.replaceAll(queue, 'queue'));
    return { queue, frames, app, runs };
  }

  const throwing = (): never => {
    throw new Error('failed');
  };
  const dead = unique('table.dead');

  it.each<[string, SubscribeOptions, () => unknown]>([
    ['nothing', {}, () => undefined],
    ['ack()', { retry: { attempts: 3 }, deadLetter: dead }, () => ack()],
    ['skip', { retry: { attempts: 3 }, deadLetter: dead, onError: 'skip' }, throwing],
  ])('%s: an acknowledgement', async (_name, options, work) => {
    const { frames, runs, queue } = await settle(options, work);
    await until(() => frames().length > 0);
    await broker.waitForReady(queue, 0);
    expect(frames()).toEqual(['ack']);
    expect(runs).toEqual([1]);
  });

  it('drop with a dead-letter queue: a confirmed publish, then an acknowledgement', async () => {
    const queue = unique('dropped');
    const { frames, runs } = await settle({ deadLetter: queue }, () => drop());
    await until(() => frames().length >= 3);
    expect(frames()).toEqual([`publish to ${queue}`, 'confirm', 'ack']);
    expect((await broker.take(queue)).properties.headers?.['x-settle-reason']).toBe('drop');
    expect(runs).toEqual([1]);
  });

  it.each<[string, SubscribeOptions]>([
    ['without a dead-letter queue', {}],
    ['with deadLetter.by: broker', { deadLetter: { queue: dead, by: 'broker' } }],
  ])('drop %s: a reject', async (_name, options) => {
    const { frames, runs } = await settle(options, () => drop());
    await until(() => frames().length > 0);
    expect(frames()).toEqual(['reject, requeue false']);
    expect(runs).toEqual([1]);
  });

  it.each([retry, () => retryAfter(10)])(
    'the last attempt: dead-lettered with the reason attempts',
    async (outcome) => {
      const queue = unique('capped');
      const options: SubscribeOptions = { retry: { attempts: 1 }, deadLetter: queue };
      const { frames } = await settle(options, () => outcome());
      await until(() => frames().length >= 3);
      expect(frames()).toEqual([`publish to ${queue}`, 'confirm', 'ack']);
      expect((await broker.take(queue)).properties.headers?.['x-settle-reason']).toBe('attempts');
    },
  );

  it('the last attempt without a dead-letter queue: a reject, and one line', async () => {
    const { frames, app } = await settle({ retry: { attempts: 1 } }, () => retry());
    await until(() => frames().length > 0);
    expect(frames()).toEqual(['reject, requeue false']);
    const lines = app.log.matching(/m1/, ['warn', 'error']);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/attempt 1 of 1.*rejected \(no deadLetter configured\)/);
  });

  it('retry() without retry: requeued, and one warning', async () => {
    const { frames, app } = await settle({}, () => retry());
    await app.settled(2);
    await until(() => frames().length >= 2);
    expect(frames()).toEqual(['reject, requeue true', 'ack']);
    expect(app.log.matching(/\[endless-retry\]/, ['warn'])).toHaveLength(1);
  });

  it('retry() with retry: requeued if the broker counts, else republished', async () => {
    const { frames, app, runs } = await settle({ retry: { attempts: 3 } }, () => retry());
    await app.settled(2);
    const wanted =
      queueType === 'quorum' ? ['reject, requeue true'] : ['publish to queue', 'confirm'];
    await until(() => frames().length > wanted.length);
    expect(unlessJoined(frames())).toEqual([...wanted, 'ack']);
    expect(runs).toEqual([1, 2]);
  });

  it.each<[string, SubscribeOptions]>([
    ['with retry', { retry: { attempts: 3 } }],
    ['without retry', {}],
  ])('retryAfter() %s: published to a waiting queue', async (_name, options) => {
    const { frames, app, runs } = await settle(options, () => retryAfter(20));
    await app.settled(2);
    await until(() => frames().length >= 3);
    expect(unlessJoined(frames())).toEqual([`publish to queue.${tail}.20`, 'confirm', 'ack']);
    expect(runs).toEqual([1, 2]);
  });

  it('failFast: nothing is sent, the application shuts down, the message is requeued', async () => {
    const { frames, app, queue } = await settle({ deadLetter: dead }, () => {
      throw new Panic('a bug');
    });
    await until(() => app.failed.length === 1);
    expect(frames()).toEqual([]);
    await broker.waitForReady(queue, 1);
    expect((await broker.take(queue)).fields.redelivered).toBe(true);
  });

  it.each([() => ack(), () => drop(), () => retry(), () => retryAfter(10), throwing])(
    'noAck: nothing is sent',
    async (work) => {
      const { frames, app } = await settle({ noAck: true }, work);
      await app.close();
      expect(app.settlements.map(({ status }) => status)).toEqual(['none']);
      expect(frames()).toEqual([]);
    },
  );

  it('noAck and failFast: the application shuts down and logs that the message is lost', async () => {
    const { app, queue } = await settle({ noAck: true }, () => {
      throw new Panic('a bug');
    });
    await until(() => app.failed.length === 1);
    expect(await broker.ready(queue)).toBe(0);
    expect(app.log.matching(/m1.*RabbitMQ already removed the message \(noAck\)/)).not.toEqual([]);
  });

  const refusal =
    queueType === 'classic'
      ? it
      : itOn({ before: '4.3', because: 'later ones delay deliveries of quorum queues themselves' });

  refusal("retry.by 'broker': refused if the server does not support it", async () => {
    const { linear } = await import('../../lib');
    const queue = unique('by');
    const options: SubscribeOptions = {
      queue,
      queueType,
      retry: { attempts: 3, backoff: linear('1s', { max: '5s' }), by: 'broker' },
    };
    const started = startApp({ providers: [handlerOf(options, () => undefined)] });
    await expect(started).rejects.toThrow(queueType === 'quorum' ? /4\.3 or later/ : /queueType/);
  });
});
