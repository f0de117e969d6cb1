import assert from 'node:assert/strict';
import type { SubscribeOptions } from '../../lib/model/options';
import type { ConformanceAdapter, ConformanceScenario } from './adapter';
import { ConsumerUnderTest, freshName, send, waitForReady } from './bench';

interface Refusal {
  readonly what: string;
  readonly present?: Readonly<Record<string, unknown>>;
  readonly wanted: SubscribeOptions;
  readonly text: RegExp;
  /** Default `'refused'`. */
  readonly event?: 'reconnecting';
}

const REFUSALS: readonly Refusal[] = [
  {
    what: 'an additional argument',
    present: { 'x-max-length': 7 },
    wanted: {},
    text: /406 .*inequivalent arg 'x-max-length' for queue '.+' in vhost '.+': received none but current is the value '7' of type '\w+'/,
  },
  {
    what: 'an argument with another value',
    present: { 'x-max-length': 7 },
    wanted: { queueOptions: { maxLength: 8 } },
    text: /406 .*inequivalent arg 'x-max-length' for queue .*: received '8' but current is '7'/,
  },
  {
    what: 'a missing argument',
    present: {},
    wanted: { queueOptions: { deadLetterExchange: 'other' } },
    text: /406 .*inequivalent arg 'x-dead-letter-exchange' for queue .*: received the value 'other' of type 'longstr' but current is none/,
  },
  {
    what: 'another type',
    present: {},
    wanted: { queueType: 'quorum' },
    // Since 4.0 RabbitMQ knows the type of a queue that was declared without one.
    text: /406 .*inequivalent arg 'x-queue-type' for queue .*: received (the value 'quorum' of type 'longstr' but current is none|'quorum' but current is 'classic')/,
  },
  {
    what: 'another durability',
    present: {},
    wanted: { queueOptions: { durable: false } },
    text: /406 .*inequivalent arg 'durable' for queue .*: received 'false' but current is 'true'/,
  },
  {
    what: 'exclusive access that is not available: it may be later',
    present: {},
    wanted: { queueOptions: { exclusive: true } },
    event: 'reconnecting',
    text: /405 .*RESOURCE_LOCKED - cannot obtain exclusive access to locked queue/,
  },
  {
    what: 'an invalid argument',
    wanted: { queueOptions: { messageTtl: -1 } },
    text: /406 .*invalid arg 'x-message-ttl' for queue/,
  },
  {
    what: 'a missing exchange',
    wanted: { exchange: 'conformance.missing', routingKey: 'a' },
    text: /404 .*no exchange 'conformance.missing' in vhost/,
  },
  {
    what: 'a missing queue that is not to be declared',
    wanted: { declare: false },
    text: /404 .*no queue '.+' in vhost/,
  },
];

/** What is refused, with the broker's own error. */
export const refusalScenarios: readonly ConformanceScenario[] = [
  ...REFUSALS.map(({ what, present, wanted, text, event = 'refused' }) => ({
    name: `a subscription receives the broker's own error: ${what}`,
    async run(adapter: ConformanceAdapter) {
      const queue = freshName('refusal');
      if (present !== undefined) await adapter.declareQueue(queue, present);
      const under = await new ConsumerUnderTest(adapter, { queue, ...wanted }).start();
      await under.waitFor(event);
      await under.close();
      assert.match(under.reasons[0]?.message ?? '', text);
      assert.ok(!under.events.includes('consuming'));
    },
  })),
  {
    name: 'unknown arguments are not a difference',
    async run(adapter) {
      const queue = freshName('unknown');
      await adapter.declareQueue(queue, { 'x-queue-type': 'classic', 'x-of-nobody': 1 });
      const under = await new ConsumerUnderTest(adapter, { queue }).start();
      await under.waitFor('consuming');
      await under.close();
    },
  },
  {
    name: 'with noAck a message is removed when it is delivered, and prefetch does not apply',
    async run(adapter) {
      const queue = freshName('noAck');
      const under = await new ConsumerUnderTest(adapter, { queue, noAck: true }, 1).start();
      await under.waitFor('consuming');
      for (const text of ['1', '2', '3']) await send(adapter, queue, text);
      await under.nextOnes(3);
      await under.close();
      await waitForReady(adapter, queue, 0);
    },
  },
];
