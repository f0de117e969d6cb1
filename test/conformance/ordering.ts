import assert from 'node:assert/strict';
import type { SubscribeOptions } from '../../lib/model/options';
import type { ConformanceAdapter, ConformanceScenario } from './adapter';
import { ConsumerUnderTest, freshName, send, settle, textOf, waitForReady } from './bench';

const TEXTS = ['1', '2', '3', '4', '5'];

/** The order of deliveries and redeliveries. */
export const orderingScenarios: readonly ConformanceScenario[] = [
  {
    name: 'classic: requeued messages return to their positions',
    async run(adapter) {
      const under = await consumerOfThree(adapter, { queueType: 'classic' });
      assert.deepEqual(await orderAfterRequeueing(under), [
        '1 redelivered',
        '2 redelivered',
        '3 redelivered',
        '4',
        '5',
      ]);
    },
  },
  {
    name: 'quorum: with a delivery limit, requeued messages come first, in the order of requeueing',
    async run(adapter) {
      const queueOptions = { arguments: { 'x-delivery-limit': 5 } };
      const under = await consumerOfThree(adapter, { queueType: 'quorum', queueOptions });
      assert.deepEqual(await orderAfterRequeueing(under), [
        '3 redelivered',
        '1 redelivered',
        '2 redelivered',
        '4',
        '5',
      ]);
    },
  },
  ...(['classic', 'quorum'] as const).map((queueType) => ({
    name: `${queueType}: messages of a closed channel are redelivered first, in order`,
    async run(adapter: ConformanceAdapter) {
      const under = await consumerOfThree(adapter, { queueType });
      await under.nextOnes(3);
      await adapter.loseConnections();
      await under.waitFor('consuming', 2);
      assert.deepEqual(await takeAll(under), [
        '1 redelivered',
        '2 redelivered',
        '3 redelivered',
        '4',
        '5',
      ]);
    },
  })),
  {
    name: 'classic: higher priorities are delivered first, those above the maximum count as the maximum',
    async run(adapter) {
      const queue = freshName('priority');
      await adapter.declareQueue(queue, { 'x-queue-type': 'classic', 'x-max-priority': 5 });
      for (const [text, priority] of Object.entries({ a: 0, b: 3, c: 9, d: 5 })) {
        await send(adapter, queue, text, { priority });
      }
      await send(adapter, queue, 'e');
      const queueOptions = { maxPriority: 5 };
      const under = await new ConsumerUnderTest(adapter, { queue, queueOptions }).start();
      assert.deepEqual(await takeAll(under), ['c', 'd', 'b', 'a', 'e']);
    },
  },
  {
    name: 'classic: a full queue dead-letters its oldest message',
    async run(adapter) {
      const queue = freshName('full');
      const dead = `${queue}.dead`;
      await adapter.declareQueue(dead, {});
      await adapter.declareQueue(queue, {
        'x-max-length': 2,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': dead,
      });
      for (const text of ['1', '2', '3']) await send(adapter, queue, text);
      const [message] = await waitForReady(adapter, dead, 1);
      assert.equal(message?.body.toString(), '1');
      const deaths = message?.headers['x-death'] as readonly { readonly reason: string }[];
      assert.deepEqual(
        deaths.map(({ reason }) => reason),
        ['maxlen'],
      );
      await waitForReady(adapter, queue, 2);
    },
  },
];

async function consumerOfThree(
  adapter: ConformanceAdapter,
  options: SubscribeOptions,
): Promise<ConsumerUnderTest> {
  const queue = freshName('order');
  const under = await new ConsumerUnderTest(adapter, { queue, ...options }, 3).start();
  await under.waitFor('consuming');
  for (const text of TEXTS) await send(adapter, queue, text);
  return under;
}

// Cancelled meanwhile, so that no free prefetch slot is used.
async function orderAfterRequeueing(under: ConsumerUnderTest): Promise<string[]> {
  const [one, two, three] = await under.nextOnes(3);
  assert.ok(one && two && three);
  await under.consumer.take('none');
  for (const delivery of [three, one, two]) await settle(delivery, 'requeueFailed');
  await under.consumer.take('all');
  return takeAll(under);
}

async function takeAll(under: ConsumerUnderTest): Promise<string[]> {
  const texts: string[] = [];
  while (texts.length < TEXTS.length) {
    const delivery = await under.next();
    texts.push(textOf(delivery) + (delivery.message.fields.redelivered ? ' redelivered' : ''));
    await settle(delivery, 'ack');
  }
  await under.close();
  return texts;
}
