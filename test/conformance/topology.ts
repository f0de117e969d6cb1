import assert from 'node:assert/strict';
import type { ConformanceScenario } from './adapter';
import { ConsumerUnderTest, deathOf, freshName, poll, send, settle, waitForReady } from './bench';

/** Queues: declared, refused, deleted, server-named, with a delivery limit. */
export const topologyScenarios: readonly ConformanceScenario[] = [
  {
    name: 'quorum: at its delivery limit the broker dead-letters the message',
    async run(adapter) {
      const queue = freshName('limit');
      const dead = `${queue}.dead`;
      const under = await new ConsumerUnderTest(adapter, {
        queue,
        queueType: 'quorum',
        retry: { attempts: 3 },
        deadLetter: { queue: dead, by: 'broker' },
      }).start();
      await send(adapter, queue, 'one');
      for (const attempt of [1, 2, 3]) {
        const delivery = await under.next();
        assert.equal(under.attempt(delivery), attempt);
        await settle(delivery, 'requeueFailed');
      }
      const [message] = await waitForReady(adapter, dead, 1);
      assert.deepEqual(deathOf(message), { reason: 'delivery_limit', queue });
      await under.close();
    },
  },
  {
    name: 'a queue that exists with other arguments is refused, and not changed',
    async run(adapter) {
      const queue = freshName('other');
      await adapter.declareQueue(queue, { 'x-queue-type': 'classic', 'x-max-length': 7 });
      await send(adapter, queue, 'one');
      const under = await new ConsumerUnderTest(adapter, { queue }).start();
      await under.waitFor('refused');
      assert.ok(!under.events.includes('consuming'));
      await under.close();
      await waitForReady(adapter, queue, 1);
    },
  },
  {
    name: 'a queue that is not to be declared is checked',
    async run(adapter) {
      const queue = freshName('check');
      const under = await new ConsumerUnderTest(adapter, { queue, declare: false }).start();
      await under.waitFor('refused');
      await under.close();
      assert.equal(await adapter.messages(queue), undefined);
    },
  },
  {
    name: 'an exchange that does not exist is refused',
    async run(adapter) {
      const [queue, exchange] = [freshName('queue'), freshName('missing')];
      const under = await new ConsumerUnderTest(adapter, { queue, exchange }).start();
      await under.waitFor('refused');
      await under.close();
    },
  },
  {
    name: 'a queue deleted while it is consumed is declared and consumed again',
    async run(adapter) {
      const queue = freshName('deleted');
      const under = await new ConsumerUnderTest(adapter, { queue }).start();
      await under.waitFor('consuming');
      await adapter.deleteQueue(queue);
      await under.waitFor('channelLost');
      await under.waitFor('consuming', 2);
      await send(adapter, queue, 'one');
      await settle(await under.next(), 'ack');
      await under.close();
    },
  },
  {
    name: 'a server-named queue is consumed, and deleted with its consumer',
    async run(adapter) {
      const exchange = freshName('exchange');
      await adapter.declareExchange(exchange, 'topic');
      const options = { exchange, routingKey: 'order.*' };
      const under = await new ConsumerUnderTest(adapter, options).start();
      await under.waitFor('consuming');
      await adapter.publish(exchange, 'order.paid', Buffer.from('one'), {});
      const delivery = await under.next();
      assert.match(delivery.queue, /^amq\.gen-/);
      assert.equal(delivery.message.fields.routingKey, 'order.paid');
      await settle(delivery, 'ack');
      await under.close();
      await poll(adapter, 'the deletion of the queue', async () =>
        (await adapter.messages(delivery.queue)) === undefined ? true : undefined,
      );
    },
  },
  {
    name: 'a delivery count set by a client has no effect',
    async run(adapter) {
      const queue = freshName('forged');
      const under = await new ConsumerUnderTest(adapter, { queue, queueType: 'quorum' }).start();
      await send(adapter, queue, 'one', { headers: { 'x-delivery-count': 7 } });
      const first = await under.next();
      assert.equal(under.attempt(first), 1);
      await settle(first, 'requeueFailed');
      const second = await under.next();
      assert.equal(under.attempt(second), 2);
      await settle(second, 'ack');
      await under.close();
    },
  },
];
