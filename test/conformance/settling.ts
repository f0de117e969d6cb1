import assert from 'node:assert/strict';
import type { ConformanceScenario } from './adapter';
import { ConsumerUnderTest, deathOf, freshName, send, settle, waitForReady } from './bench';

const TYPES = ['classic', 'quorum'] as const;

/** Settling, counting, the prefetch count, pausing. */
export const settlingScenarios: readonly ConformanceScenario[] = TYPES.flatMap((queueType) => {
  const counts = queueType === 'quorum';
  return [
    {
      name: `${queueType}: an acknowledged message is removed`,
      async run(adapter) {
        const queue = freshName('ack');
        const under = await new ConsumerUnderTest(adapter, { queue, queueType }).start();
        await send(adapter, queue, 'one');
        const delivery = await under.next();
        assert.equal(delivery.message.content.toString(), 'one');
        assert.equal(delivery.queue, queue);
        assert.equal(delivery.countsRedeliveries, counts);
        assert.equal(await settle(delivery, 'ack'), true);
        await under.close();
        await waitForReady(adapter, queue, 0);
      },
    },
    {
      name: `${queueType}: a rejected message is dead-lettered by the queue's own dead-letter exchange`,
      async run(adapter) {
        const queue = freshName('reject');
        const dead = `${queue}.dead`;
        const deadLetter = { queue: dead, by: 'broker' } as const;
        const under = await new ConsumerUnderTest(adapter, {
          queue,
          queueType,
          deadLetter,
        }).start();
        await send(adapter, queue, 'one');
        await settle(await under.next(), 'reject');
        const [message] = await waitForReady(adapter, dead, 1);
        assert.equal(message?.body.toString(), 'one');
        assert.deepEqual(deathOf(message), { reason: 'rejected', queue });
        await under.close();
      },
    },
    {
      name: `${queueType}: a message requeued after failing is redelivered${counts ? ', counted' : ''}`,
      async run(adapter) {
        const queue = freshName('requeue');
        const under = await new ConsumerUnderTest(adapter, { queue, queueType }).start();
        await send(adapter, queue, 'one');
        for (const attempt of [1, 2, 3]) {
          const delivery = await under.next();
          assert.equal(delivery.message.fields.redelivered, attempt > 1);
          assert.equal(under.attempt(delivery), counts ? attempt : 1);
          await settle(delivery, attempt < 3 ? 'requeueFailed' : 'ack');
        }
        await under.close();
      },
    },
    {
      name: `${queueType}: a message requeued unprocessed is redelivered`,
      async run(adapter) {
        const queue = freshName('requeueUnprocessed');
        const under = await new ConsumerUnderTest(adapter, { queue, queueType }).start();
        await send(adapter, queue, 'one');
        await settle(await under.next(), 'requeueUnprocessed');
        const again = await under.next();
        assert.equal(again.message.fields.redelivered, true);
        assert.equal(under.attempt(again), counts && adapter.countsUnprocessed ? 2 : 1);
        await settle(again, 'ack');
        await under.close();
      },
    },
    {
      name: `${queueType}: unsettled messages of a closed channel are redelivered${counts ? ', counted' : ''}`,
      async run(adapter) {
        const queue = freshName('lost');
        const under = await new ConsumerUnderTest(adapter, { queue, queueType }).start();
        await send(adapter, queue, 'one');
        const first = await under.next();
        await adapter.loseConnections();
        await under.waitFor('channelLost');
        assert.equal(await settle(first, 'ack'), false);
        await under.waitFor('consuming', 2);
        const again = await under.next();
        assert.equal(again.message.fields.redelivered, true);
        assert.equal(under.attempt(again), counts ? 2 : 1);
        await settle(again, 'ack');
        await under.close();
        await waitForReady(adapter, queue, 0);
      },
    },
    {
      name: `${queueType}: settling twice throws`,
      async run(adapter) {
        const queue = freshName('twice');
        const under = await new ConsumerUnderTest(adapter, { queue, queueType }).start();
        await send(adapter, queue, 'one');
        const delivery = await under.next();
        await settle(delivery, 'ack');
        assert.throws(() => delivery.settle('reject', () => undefined));
        assert.throws(() => delivery.leave());
        await under.close();
      },
    },
    {
      name: `${queueType}: a delivery left unsettled is redelivered after closing`,
      async run(adapter) {
        const queue = freshName('leave');
        const under = await new ConsumerUnderTest(adapter, { queue, queueType }).start();
        await send(adapter, queue, 'one');
        (await under.next()).leave();
        await under.close();
        const [message] = await waitForReady(adapter, queue, 1);
        assert.equal(message?.redelivered, true);
      },
    },
    {
      name: `${queueType}: at most prefetch messages are in flight`,
      async run(adapter) {
        const queue = freshName('prefetch');
        await adapter.declareQueue(queue, { 'x-queue-type': queueType });
        for (const text of ['1', '2', '3', '4', '5']) await send(adapter, queue, text);
        const under = await new ConsumerUnderTest(adapter, { queue, queueType }, 2).start();
        const deliveries = [await under.next(), await under.next()];
        await adapter.pass(100);
        assert.equal(under.delivered, 2);
        for (const delivery of deliveries) await settle(delivery, 'ack');
        await Promise.all([under.next(), under.next()]);
        await under.close();
        await waitForReady(adapter, queue, 3);
      },
    },
    {
      name: `${queueType}: a paused consumer receives nothing until it is resumed`,
      async run(adapter) {
        const queue = freshName('pause');
        const under = await new ConsumerUnderTest(adapter, { queue, queueType }).start();
        await under.waitFor('consuming');
        await under.consumer.take('none');
        await send(adapter, queue, 'one');
        await waitForReady(adapter, queue, 1);
        assert.equal(under.delivered, 0);
        await under.consumer.take('all');
        await settle(await under.next(), 'ack');
        await under.close();
      },
    },
  ] satisfies ConformanceScenario[];
});
