import assert from 'node:assert/strict';
import { systemClock } from '../../lib/clock';
import { deadLetterMessageOf, retryMessageOf } from '../../lib/delivery/republish';
import { fixed } from '../../lib/model/backoff';
import { normalize } from '../../lib/subscribe/normalize';
import type { ConformanceScenario } from './adapter';
import { ConsumerUnderTest, freshName, poll, republish, send, settle, waitForReady } from './bench';

const TYPES = ['classic', 'quorum'] as const;

/** Retries, delays, dead letters. */
export const republishingScenarios: readonly ConformanceScenario[] = TYPES.flatMap((queueType) => [
  {
    name: `${queueType}: a message republished for a retry arrives with the next attempt, otherwise unchanged`,
    async run(adapter) {
      const queue = freshName('retry');
      const under = await new ConsumerUnderTest(adapter, { queue, queueType }).start();
      await send(adapter, queue, 'one', {
        messageId: 'm1',
        contentType: 'text/plain',
        priority: 1,
        expiration: '60000',
        headers: { tenant: 'a' },
      });
      const first = await under.next();
      const next = retryMessageOf(under.record(first), 2, systemClock.now());
      assert.equal(await republish(first, next, { to: 'retry', delayMs: 0 }), 'confirmed');
      await settle(first, 'ack');
      const second = await under.next();
      assert.equal(under.attempt(second), 2);
      assert.equal(second.message.fields.redelivered, false);
      assert.deepEqual(second.message.content, first.message.content);
      assert.equal(second.message.properties.messageId, 'm1');
      assert.equal(second.message.properties.contentType, 'text/plain');
      assert.equal(second.message.properties.expiration, undefined);
      assert.equal(second.message.properties.headers?.['tenant'], 'a');
      await settle(second, 'ack');
      await under.close();
      await waitForReady(adapter, queue, 0);
    },
  },
  {
    name: `${queueType}: messages of another method go to its own waiting and dead-letter queues`,
    async run(adapter) {
      const queue = freshName('methods');
      const other = normalize('Conformance.other', {
        queue,
        queueType,
        retry: { attempts: 2, backoff: fixed(300) },
        deadLetter: `${queue}.other.dead`,
      });
      const options = { queue, queueType, deadLetter: `${queue}.dead` };
      const under = await new ConsumerUnderTest(adapter, options, 10, [other]).start();
      const waiting = `${queue}.${queueType === 'quorum' ? 'waitq' : 'wait'}.300`;
      assert.equal((await adapter.messages(waiting))?.length, 0);
      assert.equal((await adapter.messages(`${queue}.other.dead`))?.length, 0);
      await send(adapter, queue, 'one');
      const first = await under.next();
      const next = retryMessageOf(under.record(first), 2, systemClock.now());
      const retried = { to: 'retry', delayMs: 300, subscription: other } as const;
      assert.equal(await republish(first, next, retried), 'confirmed');
      await settle(first, 'ack');
      const second = await under.next();
      assert.equal(under.attempt(second), 2);
      const diagnosis = { reason: 'attempts', withStack: false };
      const dead = deadLetterMessageOf(under.record(second), diagnosis, systemClock.now());
      const target = { to: 'deadLetter', subscription: other } as const;
      assert.equal(await republish(second, dead, target), 'confirmed');
      await settle(second, 'ack');
      const [message] = await waitForReady(adapter, `${queue}.other.dead`, 1);
      assert.equal(message?.body.toString(), 'one');
      assert.equal((await adapter.messages(`${queue}.dead`))?.length, 0);
      await under.close();
    },
  },
  {
    name: `${queueType}: a delayed retry arrives after its delay, and is not blocked by a longer one`,
    async run(adapter) {
      const queue = freshName('delay');
      const under = await new ConsumerUnderTest(adapter, { queue, queueType }).start();
      for (const [text, delayMs] of [
        ['long', 2_000],
        ['short', 300],
      ] as const) {
        await send(adapter, queue, text);
        const delivery = await under.next();
        const next = retryMessageOf(under.record(delivery), 2, systemClock.now());
        assert.equal(await republish(delivery, next, { to: 'retry', delayMs }), 'confirmed');
        await settle(delivery, 'ack');
      }
      await adapter.pass(150);
      assert.equal(under.delivered, 2);
      for (const text of ['short', 'long']) {
        const delivery = await under.next();
        assert.equal(delivery.message.content.toString(), text);
        assert.equal(under.attempt(delivery), 2);
        await settle(delivery, 'ack');
      }
      await under.close();
    },
  },
  {
    name: `${queueType}: a dead letter starts at attempt 1 when it is published to the queue again`,
    async run(adapter) {
      const queue = freshName('dead');
      const dead = `${queue}.dead`;
      const options = { queue, queueType, deadLetter: dead, retry: { attempts: 3 } };
      const under = await new ConsumerUnderTest(adapter, options).start();
      await send(adapter, queue, 'one');
      const delivery = await under.next();
      const diagnosis = { reason: 'drop', withStack: false };
      const next = deadLetterMessageOf(under.record(delivery), diagnosis, systemClock.now());
      assert.equal(await republish(delivery, next, { to: 'deadLetter' }), 'confirmed');
      await settle(delivery, 'ack');
      const [message] = await waitForReady(adapter, dead, 1);
      assert.equal(message?.headers['x-settle-reason'], 'drop');
      await send(adapter, queue, 'one', { headers: message?.headers ?? {} });
      const again = await under.next();
      assert.equal(under.attempt(again), 1);
      await settle(again, 'ack');
      await under.close();
    },
  },
  {
    name: `${queueType}: a message for a deleted queue is published after the queue is declared again`,
    async run(adapter) {
      const queue = freshName('returned');
      const dead = `${queue}.dead`;
      const under = await new ConsumerUnderTest(adapter, {
        queue,
        queueType,
        deadLetter: dead,
      }).start();
      await send(adapter, queue, 'one');
      const delivery = await under.next();
      await adapter.deleteQueue(dead);
      const next = deadLetterMessageOf(
        under.record(delivery),
        { reason: 'drop', withStack: false },
        systemClock.now(),
      );
      let result: string | undefined;
      void republish(delivery, next, { to: 'deadLetter' }).then((ended) => {
        result = ended;
      });
      assert.equal(await poll(adapter, 'the result', () => result), 'confirmed');
      await waitForReady(adapter, dead, 1);
      await under.close();
    },
  },
  {
    name: `${queueType}: another queue bound to the same exchange receives no republished message`,
    async run(adapter) {
      const [exchange, queue, other] = ['exchange', 'own', 'other'].map(freshName);
      assert.ok(exchange && queue && other);
      await adapter.declareExchange(exchange, 'fanout');
      await adapter.declareQueue(other, { 'x-queue-type': 'classic' });
      await adapter.bind(other, exchange, '');
      const under = await new ConsumerUnderTest(adapter, { queue, queueType, exchange }).start();
      await under.waitFor('consuming');
      await adapter.publish(exchange, 'a.key', Buffer.from('one'), {});
      const first = await under.next();
      const next = retryMessageOf(under.record(first), 2, systemClock.now());
      assert.equal(await republish(first, next, { to: 'retry', delayMs: 0 }), 'confirmed');
      await settle(first, 'ack');
      const second = await under.next();
      const record = under.record(second);
      assert.deepEqual([record.exchange, record.routingKey], [exchange, 'a.key']);
      await settle(second, 'ack');
      await waitForReady(adapter, other, 1);
      await under.close();
    },
  },
]);
