import assert from 'node:assert/strict';
import type { SubscribeOptions } from '../../lib/model/options';
import type { ConformanceAdapter, ConformanceScenario } from './adapter';
import { ConsumerUnderTest, freshName, settle } from './bench';

interface Kind {
  readonly what: string;
  readonly options: SubscribeOptions;
}

/** What makes the broker delete a queue that has no consumer, or not. */
const KINDS: readonly Kind[] = [
  { what: 'a queue', options: {} },
  { what: 'a quorum queue', options: { queueType: 'quorum' } },
  { what: 'an auto-delete queue', options: { queueOptions: { autoDelete: true } } },
  { what: 'a queue with x-expires', options: { queueOptions: { expires: 300 } } },
  {
    what: 'a quorum queue with x-expires',
    options: { queueType: 'quorum', queueOptions: { arguments: { 'x-expires': 300 } } },
  },
  { what: 'a server-named queue', options: {} },
];

/** A consumer of a queue that is bound to a new exchange. */
async function consumerOf(adapter: ConformanceAdapter, { what, options }: Kind, prefetch: number) {
  const exchange = freshName('exchange');
  await adapter.declareExchange(exchange, 'fanout');
  const queue = what === 'a server-named queue' ? {} : { queue: freshName('intake') };
  const given = { ...options, ...queue, exchange };
  const under = await new ConsumerUnderTest(adapter, given, prefetch).start();
  await under.waitFor('consuming');
  return { under, publish: (text: string) => adapter.publish(exchange, '', Buffer.from(text), {}) };
}

/** How many deliveries a consumer takes. */
export const intakeScenarios: readonly ConformanceScenario[] = KINDS.flatMap((kind) => {
  const { what } = kind;
  return [
    {
      name: `${what} keeps its messages while its consumer takes none`,
      async run(adapter) {
        const { under, publish } = await consumerOf(adapter, kind, 2);
        await under.consumer.take('none');
        for (const text of ['1', '2', '3']) await publish(text);
        await adapter.pass(600);
        assert.equal(under.delivered, 0);
        await under.consumer.take('all');
        const seen: string[] = [];
        while (seen.length < 3) {
          const delivery = await under.next();
          seen.push(`${delivery.message.content} ${delivery.message.fields.redelivered}`);
          await settle(delivery, 'ack');
        }
        assert.deepEqual(seen, ['1 false', '2 false', '3 false']);
        await under.close();
      },
    },
    {
      name: `a consumer of ${what} takes one message at a time, then as many as its prefetch`,
      async run(adapter) {
        const { under, publish } = await consumerOf(adapter, kind, 2);
        await under.consumer.take('none');
        for (const text of ['1', '2', '3', '4']) await publish(text);
        await under.consumer.take('one');
        const first = await under.next();
        await adapter.pass(100);
        assert.equal(under.delivered, 1);
        await settle(first, 'ack');
        await under.consumer.take('one');
        const second = await under.next();
        await adapter.pass(100);
        assert.equal(under.delivered, 2);
        await under.consumer.take('none');
        await settle(second, 'ack');
        await adapter.pass(100);
        assert.equal(under.delivered, 2);
        await under.consumer.take('all');
        const rest = await under.nextOnes(2);
        assert.deepEqual(
          [first, second, ...rest].map(({ message }) => `${message.content}`),
          ['1', '2', '3', '4'],
        );
        for (const delivery of rest) await settle(delivery, 'ack');
        await under.close();
      },
    },
  ] satisfies ConformanceScenario[];
});
