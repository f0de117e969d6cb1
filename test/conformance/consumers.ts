import assert from 'node:assert/strict';
import { isAtLeast } from '../../lib/amqp/queue-declarations';
import type { SubscribeOptions } from '../../lib/model/options';
import type { ConformanceAdapter, ConformanceScenario } from './adapter';
import { ConsumerUnderTest, freshName, poll, send, settle, textOf } from './bench';
import { type Replies, replyFor } from './declarations';

type ConsumerOptions = NonNullable<
  NonNullable<SubscribeOptions['queueOptions']>['consumerOptions']
>;

const TYPES = ['classic', 'quorum'] as const;
const SINGLE = { 'x-single-active-consumer': true };
const IN_USE =
  "403 (ACCESS-REFUSED) with message \"ACCESS_REFUSED - queue 'Q' in vhost '/' in exclusive use\"";
const OF_TYPE = (name: string, type: string): string =>
  `invalid arg '${name}' for queue 'Q' in vhost '/' of queue type rabbit_${type}_queue`;

const ARGUMENTS: readonly (readonly [
  queueType: 'classic' | 'quorum',
  args: Readonly<Record<string, unknown>>,
  replies: Replies,
])[] = [
  ...TYPES.flatMap((type) => [
    [
      type,
      { 'x-priority': 'high' },
      `invalid arg 'x-priority' for queue 'Q' in vhost '/': "expected integer, got longstr"`,
    ] as const,
    [type, { 'x-stream-offset': 'first' }, OF_TYPE('x-stream-offset', type)] as const,
    [type, { 'x-nonsense': 1 }, undefined] as const,
  ]),
  [
    'classic',
    { 'x-consumer-timeout': 60_000 },
    [[[3, 10]], [[4, 3], OF_TYPE('x-consumer-timeout', 'classic')]],
  ],
  [
    'quorum',
    { 'x-consumer-timeout': -1 },
    [
      [[3, 10]],
      [[4, 3], `invalid arg 'x-consumer-timeout' for queue 'Q' in vhost '/': {value_negative,-1}`],
    ],
  ],
  [
    'quorum',
    { 'x-cancel-on-ha-failover': true },
    [[[3, 10], OF_TYPE('x-cancel-on-ha-failover', 'quorum')], [[4, 0]]],
  ],
];

/** Several consumers of one queue: exclusive ones, single active ones, priorities. */
export const consumerScenarios: readonly ConformanceScenario[] = [
  ...ARGUMENTS.map(
    ([queueType, args, replies]): ConformanceScenario => ({
      name: `${queueType}: consumes with ${JSON.stringify(args)}, or refuses`,
      async run(adapter) {
        const queue = freshName('arguments');
        const reply = replyFor(replies, adapter.version)?.replace('Q', queue);
        const under = await consumer(adapter, queue, queueType, { arguments: args });
        await under.waitFor(reply === undefined ? 'consuming' : 'refused');
        await under.close();
        if (reply !== undefined) assert.ok(under.reasons[0]?.message.includes(reply));
      },
    }),
  ),
  ...(
    [
      ['after an exclusive one', { exclusive: true }, {}],
      ['that is exclusive, after another', {}, { exclusive: true }],
    ] as const
  ).map(
    ([what, first, second]): ConformanceScenario => ({
      name: `classic: refuses a consumer ${what}, until the other is gone`,
      async run(adapter) {
        const queue = freshName('exclusive');
        const one = await consumer(adapter, queue, 'classic', first);
        await one.waitFor('consuming');
        const other = await consumer(adapter, queue, 'classic', second);
        await other.waitFor('reconnecting');
        assert.ok(other.reasons[0]?.message.includes(IN_USE.replace('Q', queue)));
        assert.ok(!other.events.includes('consuming'));
        await one.close();
        await other.waitFor('consuming');
        await other.close();
      },
    }),
  ),
  {
    name: 'classic: refuses an exclusive consumer of a queue with a single active one',
    async run(adapter) {
      const queue = freshName('exclusive');
      const one = await consumer(adapter, queue, 'classic', { exclusive: true }, SINGLE);
      await one.waitFor('reconnecting');
      await one.close();
    },
  },
  {
    name: 'quorum: ignores that a consumer is exclusive',
    async run(adapter) {
      const queue = freshName('exclusive');
      const one = await consumer(adapter, queue, 'quorum', { exclusive: true });
      await one.waitFor('consuming');
      const other = await consumer(adapter, queue, 'quorum', { exclusive: true });
      await other.waitFor('consuming');
      await one.close();
      await other.close();
    },
  },
  ...TYPES.map(
    (queueType): ConformanceScenario => ({
      name: `${queueType}: only the single active consumer receives messages, then the next one`,
      async run(adapter) {
        const queue = freshName('single');
        const one = await consumer(adapter, queue, queueType, {}, SINGLE);
        await one.waitFor('consuming');
        const other = await consumer(adapter, queue, queueType, {}, SINGLE);
        await other.waitFor('consuming');
        for (const text of ['1', '2']) await send(adapter, queue, text);
        for (const delivery of await one.nextOnes(2)) await settle(delivery, 'ack');
        assert.equal(other.delivered, 0);
        await one.close();
        await send(adapter, queue, '3');
        const third = await other.next();
        assert.equal(textOf(third), '3');
        await settle(third, 'ack');
        await other.close();
      },
    }),
  ),
  ...TYPES.map(
    (queueType): ConformanceScenario => ({
      name: `${queueType}: a consumer of a higher priority becomes the active one, or not`,
      async run(adapter) {
        const queue = freshName('takeover');
        const one = await consumer(adapter, queue, queueType, {}, SINGLE);
        await one.waitFor('consuming');
        await send(adapter, queue, '1');
        const first = await one.next();
        const other = await consumer(adapter, queue, queueType, { priority: 5 }, SINGLE);
        await other.waitFor('consuming');
        await send(adapter, queue, '2');
        await adapter.pass(200);
        const takesOver = queueType === 'quorum' && isAtLeast(adapter.version, [4, 0]);
        // The active one has something unsettled: it receives no more, and is not replaced yet.
        assert.deepEqual([one.delivered, other.delivered], takesOver ? [1, 0] : [2, 0]);
        await settle(first, 'ack');
        const second = await (takesOver ? other : one).next();
        assert.equal(textOf(second), '2');
        await settle(second, 'ack');
        await one.close();
        await other.close();
      },
    }),
  ),
  ...TYPES.map(
    (queueType): ConformanceScenario => ({
      name: `${queueType}: a consumer of a higher priority comes first as long as it has capacity`,
      async run(adapter) {
        const queue = freshName('priority');
        const low = await consumer(adapter, queue, queueType, {}, {}, 2);
        await low.waitFor('consuming');
        const high = await consumer(adapter, queue, queueType, { priority: 5 }, {}, 2);
        await high.waitFor('consuming');
        for (const text of ['1', '2', '3', '4', '5']) await send(adapter, queue, text);
        assert.deepEqual((await high.nextOnes(2)).map(textOf), ['1', '2']);
        assert.deepEqual((await low.nextOnes(2)).map(textOf), ['3', '4']);
        await low.close();
        await high.close();
      },
    }),
  ),
  ...TYPES.map(
    (queueType): ConformanceScenario => ({
      name: `${queueType}: consumers of the same priority take turns`,
      async run(adapter) {
        const queue = freshName('turns');
        const one = await consumer(adapter, queue, queueType, {});
        await one.waitFor('consuming');
        const other = await consumer(adapter, queue, queueType, {});
        await other.waitFor('consuming');
        const received = (): number => one.delivered + other.delivered;
        for (const count of [1, 2, 3, 4]) {
          await send(adapter, queue, `${count}`);
          await poll(adapter, 'the delivery', () => received() === count || undefined);
        }
        assert.deepEqual([one.delivered, other.delivered], [2, 2]);
        await one.close();
        await other.close();
      },
    }),
  ),
];

function consumer(
  adapter: ConformanceAdapter,
  queue: string,
  queueType: 'classic' | 'quorum',
  consumerOptions: ConsumerOptions,
  args: Readonly<Record<string, unknown>> = {},
  prefetch = 10,
): Promise<ConsumerUnderTest> {
  const queueOptions = { consumerOptions, arguments: args };
  return new ConsumerUnderTest(adapter, { queue, queueType, queueOptions }, prefetch).start();
}
