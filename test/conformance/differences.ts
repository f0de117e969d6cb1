import assert from 'node:assert/strict';
import { describeConsumers } from '../../lib/description/describe';
import { type Difference, differencesOf } from '../../lib/description/differences';
import type { SubscribeOptions } from '../../lib/model/options';
import { normalize } from '../../lib/subscribe/normalize';
import type { ConformanceAdapter, ConformanceScenario } from './adapter';
import { ConsumerUnderTest, freshName, poll } from './bench';

/** The differences between a subscription and the broker: kind and name of each. */
async function differences(
  adapter: ConformanceAdapter,
  options: SubscribeOptions,
): Promise<readonly Difference[]> {
  const { connection, version } = adapter;
  const subscription = normalize('Conformance.handle', options);
  const consumer = { subscription, methods: [{ subscription }], connection, isSelective: false };
  const [described] = describeConsumers([consumer], version).consumers;
  assert.ok(described);
  const client = await poll(adapter, 'a connection', () => connection.topologyClient());
  return differencesOf(client, described);
}

function kindsOf(found: readonly Difference[]): readonly string[] {
  return found.map(({ kind, what, name }) => `${kind} ${what} ${name}`);
}

/** Comparing what a subscription needs with what the broker has. */
export const differenceScenarios: readonly ConformanceScenario[] = [
  {
    name: 'a missing queue is a difference, and is not declared',
    async run(adapter) {
      const queue = freshName('missing');
      const exchange = freshName('missing-exchange');
      const options: SubscribeOptions = {
        queue,
        exchange,
        routingKey: 'a',
        deadLetter: `${queue}.dead`,
      };
      const expected = [
        `missing exchange ${exchange}`,
        `missing queue ${queue}`,
        `missing queue ${queue}.dead`,
      ];
      assert.deepEqual(kindsOf(await differences(adapter, options)), expected);
      assert.deepEqual(kindsOf(await differences(adapter, options)), expected);
      const [, own] = await differences(adapter, { ...options, declare: false });
      assert.equal(own?.isDeclared, false);
    },
  },
  ...(['classic', 'quorum'] as const).map((queueType) => ({
    name: `${queueType}: what a consumer has declared has no difference`,
    async run(adapter: ConformanceAdapter) {
      const queue = freshName('same');
      const options: SubscribeOptions = {
        queue,
        queueType,
        queueOptions: { messageTtl: 60_000, arguments: { 'x-max-length': 100 } },
        deadLetter: `${queue}.dead`,
      };
      const under = await new ConsumerUnderTest(adapter, options).start();
      assert.deepEqual(await differences(adapter, options), []);
      await under.close();
      assert.deepEqual(await differences(adapter, options), []);
    },
  })),
  {
    name: 'a queue of another type or with another argument is a difference',
    async run(adapter) {
      const queue = freshName('different');
      await adapter.declareQueue(queue, { 'x-queue-type': 'classic', 'x-message-ttl': 1_000 });
      const options = { queue, queueOptions: { messageTtl: 2_000 } };
      const [ttl] = await differences(adapter, options);
      assert.equal(ttl?.kind, 'different');
      assert.match(ttl.text, /x-message-ttl/);
      const [type] = await differences(adapter, { queue, queueType: 'quorum' });
      assert.equal(type?.kind, 'different');
      assert.match(type.text, /x-queue-type|quorum|inequivalent/);
    },
  },
  {
    name: 'a quorum queue without the delivery limit that is added by default is used as it is',
    async run(adapter) {
      const queue = freshName('limit');
      await adapter.declareQueue(queue, { 'x-queue-type': 'quorum' });
      assert.deepEqual(await differences(adapter, { queue, queueType: 'quorum' }), []);
    },
  },
];
