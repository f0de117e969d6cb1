import { describe, expect, it } from 'vitest';
import { drop, retryAfter, SettlementEvents } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { eventually, until } from '../support/eventually';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';
import { basicNack, fromClient, fromServer } from '../support/proxy';

// The only acknowledgements that a server sends are confirms.
const confirm = fromServer('basic.ack');

describe.each(['classic', 'quorum'] as const)(
  'a message republished from a %s queue',
  async (queueType) => {
    const broker = await openBroker();

    /** Starts an application behind a proxy; its handler drops every message except 'good'. */
    async function dropping(
      settle: { republishTimeout?: number } = {},
      options: Partial<AcknowledgedOptions> = {},
    ) {
      const queue = unique('republished');
      const dead = `${queue}.dead`;
      const proxy = await openProxy();
      const runs: { id: string; at: number }[] = [];
      const Handler = handlerOf(
        { queue, queueType, deadLetter: dead, ...options },
        (id: string) => {
          runs.push({ id, at: Date.now() });
          return id === 'good' ? undefined : drop();
        },
      );
      const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url }, settle });
      const outcomes = (): string[] => app.settlements.map(({ status }) => status);
      const sent = (method: 'basic.ack' | 'basic.nack' | 'basic.reject'): number =>
        proxy.count('client', method);
      return { queue, dead, proxy, runs, app, outcomes, sent, Handler };
    }

    it('delays the acknowledgement of its original until it is confirmed', async () => {
      const { queue, dead, proxy, sent, app } = await dropping();
      const held = proxy.hold(confirm);
      await broker.send(queue, 'bad');
      await held.caught(1);
      await broker.waitForReady(dead, 1);
      // A later message is acknowledged meanwhile, on its own.
      await broker.send(queue, 'good');
      const ack = await proxy.waitFor(fromClient('basic.ack'));
      expect(ack.details).toMatchObject({ deliveryTag: 2, multiple: false });
      expect(sent('basic.ack')).toBe(1);
      held.release();
      await app.settled(2);
      await until(() => sent('basic.ack') === 2);
      expect(proxy.count('client', 'basic.publish')).toBe(1);
      expect([sent('basic.nack'), sent('basic.reject')]).toEqual([0, 0]);
      expect(await broker.ready(dead)).toBe(1);
    });

    // As RabbitMQ does on a channel that first published to a queue while it had no leader.
    it('is published on another channel after one that refuses it, and then all others', async () => {
      const { queue, dead, proxy, app, outcomes } = await dropping();
      await broker.send(queue, 'bad');
      await app.settled(1);
      const { connection, channel } = await proxy.waitFor(confirm);
      proxy.clearFrames();
      const refusing = proxy.rewrite(
        fromServer('basic.ack', { connection, channel }),
        ({ details }) => ({ onward: [basicNack(channel, details.deliveryTag ?? 0)] }),
      );
      const closed = proxy.waitFor(fromClient('channel.close', { connection, channel }));
      void closed.then(() => refusing.remove()); // The next channel can have its number.
      await broker.send(queue, 'bad');
      await app.settled(2);
      expect(outcomes()).toEqual(['sent', 'sent']);
      expect(proxy.count('client', 'basic.publish')).toBe(2);
      await broker.waitForReady(dead, 3); // The refusal was made up: the broker has both.
    });

    it('is given up without a confirm in time: requeued, the consumer paused, duplicated at most', async () => {
      const { queue, dead, proxy, sent, app, runs, outcomes } = await dropping({
        republishTimeout: 400,
      });
      const held = proxy.hold(confirm);
      await broker.send(queue, 'bad', { messageId: 'm1' });
      await app.settled(1);
      expect(outcomes()).toEqual(['republishFailed']);
      await until(() => sent('basic.nack') === 1);
      expect([sent('basic.ack'), sent('basic.reject')]).toEqual([0, 0]);
      expect(app.log.matching(/consumer paused for 1s/, ['warn'])).toHaveLength(1);
      expect(app.log.matching(/\[republish-failed\] message "m1"/, ['error'])).toHaveLength(1);
      held.release();
      await app.settled(2);
      expect(outcomes()).toEqual(['republishFailed', 'sent']);
      expect((runs[1]?.at ?? 0) - (runs[0]?.at ?? 0)).toBeGreaterThanOrEqual(1_400);
      await broker.waitForReady(queue, 0);
      // Unconfirmed is not unsent: the first one had reached the queue.
      await broker.waitForReady(dead, 2);
    });

    it('is published again after a nack', async () => {
      const { queue, dead, proxy, sent, app } = await dropping();
      proxy.rewrite(confirm, ({ channel }) => ({ onward: [basicNack(channel, 1)] }), { times: 1 });
      await broker.send(queue, 'bad');
      await app.settled(1);
      await until(() => sent('basic.ack') === 1);
      expect(proxy.count('client', 'basic.publish')).toBe(2);
      expect([sent('basic.nack'), sent('basic.reject')]).toEqual([0, 0]);
      await broker.waitForReady(dead, 2);
    });

    it('is given up if a full queue refuses it: the pause doubles, nothing is lost', async () => {
      const dead = unique('full');
      const args = { 'x-queue-type': 'classic', 'x-max-length': 1, 'x-overflow': 'reject-publish' };
      await broker.declare(dead, { arguments: args });
      await broker.send(dead, 'in the way');
      const { queue, proxy, sent, app, runs, outcomes } = await dropping({}, { deadLetter: dead });
      await broker.send(queue, 'bad');
      await app.settled(2);
      expect(outcomes()).toEqual(['republishFailed', 'republishFailed']);
      expect(proxy.count('client', 'basic.publish')).toBe(10);
      expect([sent('basic.ack'), sent('basic.reject')]).toEqual([0, 0]);
      const pauses = app.log
        .matching(/\[consumer-paused\]/, ['warn'])
        .map((line) => line.match(/paused for (\w+)/)?.[1]);
      expect(pauses).toEqual(['1s', '2s']);
      await broker.take(dead);
      await app.settled(3, 20_000);
      expect(outcomes().at(-1)).toBe('sent');
      expect((runs[1]?.at ?? 0) - (runs[0]?.at ?? 0)).toBeGreaterThanOrEqual(2_500);
      expect((runs[2]?.at ?? 0) - (runs[1]?.at ?? 0)).toBeGreaterThanOrEqual(3_500);
      expect((await broker.take(dead)).content.toString()).toBe('"bad"');
      await broker.waitForReady(queue, 0);
    });

    it('is published again to the declared queue after it was returned', async () => {
      const { queue, dead, proxy, app, outcomes } = await dropping();
      await broker.delete(dead);
      await broker.send(queue, 'bad');
      await app.settled(1);
      expect(outcomes()).toEqual(['sent']);
      expect(proxy.count('server', 'basic.return')).toBe(1);
      await broker.waitForReady(dead, 1);
    });

    it('has its waiting queue declared again after it was returned', async () => {
      const queue = unique('waits');
      const proxy = await openProxy();
      const Handler = handlerOf({ queue, queueType }, (_payload, { attempt }) =>
        attempt === 1 ? retryAfter(40) : undefined,
      );
      const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
      await broker.send(queue, 1);
      await app.settled(2);
      await broker.delete(`${queue}.${queueType === 'classic' ? 'wait' : 'waitq'}.40`);
      await broker.send(queue, 2);
      await app.settled(4);
      expect(proxy.count('server', 'basic.return')).toBe(1);
      expect(app.settlements.map(({ status }) => status)).toEqual(Array(4).fill('sent'));
    });

    it('is given up if it is returned and the queue may not be declared; nothing is lost', async () => {
      const dead = unique('missing');
      await broker.declare(dead);
      const declare = { deadLetter: false };
      const made = await dropping({}, { deadLetter: dead, declare });
      await broker.delete(dead);
      await broker.send(made.queue, 'bad');
      await made.app.settled(1);
      expect(made.outcomes()).toEqual(['republishFailed']);
      expect([made.sent('basic.ack'), made.sent('basic.reject')]).toEqual([0, 0]);
      await broker.declare(dead);
      await broker.waitForReady(dead, 1);
      await broker.waitForReady(made.queue, 0);
    });

    it.each([true, false])(
      'is published again if the connection closes at its confirm (before: %s)',
      async (before) => {
        const { queue, dead, proxy, sent, app, outcomes } = await dropping();
        proxy.cutWhen(confirm, { before });
        await broker.send(queue, 'bad');
        await app.settled(1, 20_000);
        expect(outcomes()).toEqual(['sent']);
        await until(() => sent('basic.ack') === 1);
        expect([sent('basic.nack'), sent('basic.reject')]).toEqual([0, 0]);
        const published = proxy.count('client', 'basic.publish');
        expect(published).toBeLessThanOrEqual(2);
        if (before) expect(published).toBe(2);
        await broker.waitForReady(dead, published);
        expect(await broker.ready(queue)).toBe(0);
      },
    );

    it('is published once if the connection closes at its publish', async () => {
      const { queue, dead, proxy, app, outcomes, runs } = await dropping();
      proxy.cutWhen(fromClient('basic.publish'), { before: true });
      await broker.send(queue, 'bad');
      await app.settled(1, 20_000);
      expect(outcomes()).toEqual(['sent']);
      expect(runs).toHaveLength(1);
      await broker.waitForReady(dead, 1);
      expect(await broker.ready(queue)).toBe(0);
    });

    it('is not published any more once its original is redelivered', async () => {
      const { queue, dead, proxy, app, outcomes, runs } = await dropping();
      const published = proxy.hold(fromClient('basic.publish'), { times: 1 });
      await broker.send(queue, 'bad');
      await published.caught(1);
      proxy.cutAll();
      await app.settled(2, 20_000);
      expect(outcomes()).toEqual(['abandoned', 'sent']);
      expect(runs).toHaveLength(2);
      await broker.waitForReady(dead, 1);
      await eventually(async () => expect(await broker.ready(queue)).toBe(0));
    });

    it('is matched to its confirm if several are confirmed at once', async () => {
      const { queue, dead, proxy, app, outcomes } = await dropping();
      let settled = 0;
      app.app.get(SettlementEvents).subscribe(() => {
        settled += 1;
      });
      const held = proxy.hold(confirm);
      for (let id = 0; id < 8; id += 1) await broker.send(queue, `bad ${id}`);
      await broker.waitForReady(dead, 8);
      expect(settled).toBe(0);
      held.release();
      await app.settled(8);
      expect(outcomes()).toEqual(Array(8).fill('sent'));
      expect(proxy.count('client', 'basic.publish')).toBe(8);
    });
  },
);
