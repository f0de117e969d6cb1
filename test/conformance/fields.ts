import assert from 'node:assert/strict';
import { systemClock } from '../../lib/clock';
import { SettleHeaders } from '../../lib/delivery/headers';
import { deadLetterMessageOf, retryMessageOf } from '../../lib/delivery/republish';
import type { ConformanceScenario } from './adapter';
import { ConsumerUnderTest, freshName, republish, send, settle, waitForReady } from './bench';

/** Values that are not valid attempts. */
const INVALID_ATTEMPTS: readonly unknown[] = [
  '2',
  -5,
  0,
  1.5,
  1e12,
  Number.MAX_SAFE_INTEGER,
  [],
  [2],
  {},
  null,
  true,
  'x'.repeat(10_000),
];

const TYPES = ['classic', 'quorum'] as const;

/** Properties and headers of republished messages. */
export const fieldScenarios: readonly ConformanceScenario[] = TYPES.flatMap((queueType) => [
  {
    name: `${queueType}: an invalid attempt header counts as attempt 1, and is replaced in the republished message`,
    async run(adapter) {
      const queue = freshName('odd');
      const under = await new ConsumerUnderTest(adapter, { queue, queueType }).start();
      for (const value of INVALID_ATTEMPTS) {
        const headers = { [SettleHeaders.attempt]: value, [SettleHeaders.queue]: queue };
        await send(adapter, queue, 'one', { headers });
        const delivery = await under.next();
        assert.equal(under.attempt(delivery), 1, String(value));
        const next = retryMessageOf(under.record(delivery), 2, systemClock.now());
        assert.equal(await republish(delivery, next, { to: 'retry', delayMs: 0 }), 'confirmed');
        await settle(delivery, 'ack');
        const again = await under.next();
        assert.equal(under.attempt(again), 2, String(value));
        assert.equal(again.message.properties.headers?.[SettleHeaders.attempt], 2);
        await settle(again, 'ack');
      }
      await under.close();
    },
  },
  {
    name: `${queueType}: the expiration of a message applies neither to its delayed retry nor to its dead letter`,
    async run(adapter) {
      const queue = freshName('expiration');
      const dead = `${queue}.dead`;
      const options = { queue, queueType, deadLetter: dead };
      const under = await new ConsumerUnderTest(adapter, options).start();
      await send(adapter, queue, 'one', { expiration: '300' });
      const first = await under.next();
      const next = retryMessageOf(under.record(first), 2, systemClock.now());
      assert.equal(await republish(first, next, { to: 'retry', delayMs: 1_000 }), 'confirmed');
      await settle(first, 'ack');
      await adapter.pass(600);
      assert.equal(under.delivered, 1);
      const second = await under.next();
      assert.equal(second.message.properties.expiration, undefined);
      const diagnosis = { reason: 'drop', withStack: false };
      const letter = deadLetterMessageOf(under.record(second), diagnosis, systemClock.now());
      assert.equal(await republish(second, letter, { to: 'deadLetter' }), 'confirmed');
      await settle(second, 'ack');
      await adapter.pass(500);
      const [message] = await waitForReady(adapter, dead, 1);
      assert.equal(message?.properties['expiration'], undefined);
      await under.close();
    },
  },
  {
    name: `${queueType}: a message without headers is republished like any other`,
    async run(adapter) {
      const queue = freshName('bare');
      const dead = `${queue}.dead`;
      const options = { queue, queueType, deadLetter: dead };
      const under = await new ConsumerUnderTest(adapter, options).start();
      await adapter.publish('', queue, Buffer.alloc(0), {});
      const first = await under.next();
      assert.equal(under.attempt(first), 1);
      assert.deepEqual(Object.keys(first.message.properties.headers ?? {}), []);
      const next = retryMessageOf(under.record(first), 2, systemClock.now());
      assert.equal(await republish(first, next, { to: 'retry', delayMs: 0 }), 'confirmed');
      await settle(first, 'ack');
      const second = await under.next();
      assert.equal(under.attempt(second), 2);
      assert.equal(second.message.content.length, 0);
      const diagnosis = { reason: 'attempts', withStack: false };
      const letter = deadLetterMessageOf(under.record(second), diagnosis, systemClock.now());
      assert.equal(await republish(second, letter, { to: 'deadLetter' }), 'confirmed');
      await settle(second, 'ack');
      const [message] = await waitForReady(adapter, dead, 1);
      assert.equal(message?.headers[SettleHeaders.reason], 'attempts');
      assert.equal(message?.headers[SettleHeaders.attempt], undefined);
      await under.close();
    },
  },
  {
    name: `${queueType}: a message that its queue refuses is given up, and the original stays`,
    async run(adapter) {
      const queue = freshName('refused');
      const dead = `${queue}.dead`;
      const full = { 'x-queue-type': 'classic', 'x-max-length': 1, 'x-overflow': 'reject-publish' };
      await adapter.declareQueue(dead, full);
      await send(adapter, dead, 'in the way');
      const options = { queue, queueType, deadLetter: dead };
      const under = await new ConsumerUnderTest(adapter, options).start();
      await send(adapter, queue, 'one');
      const delivery = await under.next();
      const diagnosis = { reason: 'drop', withStack: false };
      const letter = deadLetterMessageOf(under.record(delivery), diagnosis, systemClock.now());
      let result: string | undefined;
      void republish(delivery, letter, { to: 'deadLetter' }).then((ended) => {
        result = ended;
      });
      while (result === undefined) await adapter.pass(50);
      assert.equal(result, 'failed');
      await settle(delivery, 'requeueUnprocessed');
      await under.close();
      await waitForReady(adapter, queue, 1);
      await waitForReady(adapter, dead, 1);
    },
  },
]);
