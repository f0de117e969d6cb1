import assert from 'node:assert/strict';
import { isAtLeast } from '../../lib/amqp/queue-declarations';
import type { ConformanceScenario } from './adapter';
import { ConsumerUnderTest, freshName, send, settle, waitForReady } from './bench';
import { expectReply, type Replies, replyFor } from './declarations';

const MEBIBYTE = 1_048_576;
const FAILED = '406 (PRECONDITION-FAILED) with message "PRECONDITION_FAILED - ';

const REFUSED: readonly (readonly [
  what: string,
  properties: Readonly<Record<string, unknown>>,
  replies: Replies,
  bytes?: number,
])[] = [
  ['of 16 MiB', {}, undefined, 16 * MEBIBYTE],
  [
    'of one byte more',
    {},
    [
      [[3, 10]],
      [[4, 0], `${FAILED}message size 16777217 is larger than configured max size 16777216"`],
    ],
    16 * MEBIBYTE + 1,
  ],
  ['of its own user', { userId: 'guest' }, undefined],
  [
    'of another user',
    { userId: 'other' },
    `${FAILED}user_id property set to 'other' but authenticated user was 'guest'"`,
  ],
  ['that expires', { expiration: 60_000 }, undefined],
  ['that expires soon', { expiration: 'soon' }, `${FAILED}invalid expiration 'soon': no_integer"`],
  ['without a time', { expiration: '' }, `${FAILED}invalid expiration '': no_integer"`],
  [
    'that expires in 5s',
    { expiration: '5s' },
    `${FAILED}invalid expiration '5s': {leftover_string,"s"}"`,
  ],
  [
    'that expired before',
    { expiration: -1 },
    `${FAILED}invalid expiration '-1': {value_negative,-1}"`,
  ],
  [
    'that expires in more than ten years',
    { expiration: 315_360_000_001 },
    `${FAILED}invalid expiration '315360000001': {value_too_large,315360000001}"`,
  ],
  [
    'with CC as a text',
    { headers: { CC: 'a' } },
    `${FAILED}invalid message: {unacceptable_type_in_header,"CC",longstr}"`,
  ],
  [
    'with BCC as a number',
    { headers: { BCC: 5 } },
    `${FAILED}invalid message: {unacceptable_type_in_header,"BCC",byte}"`,
  ],
  [
    'with an unknown delivery mode',
    { deliveryMode: 5 },
    [[[3, 10], `${FAILED}invalid message: {delivery_mode_unknown,5}"`], [[4, 0]]],
  ],
  ['with headers above 64 KiB', { headers: { a: 'x'.repeat(65_536) } }, '541 (INTERNAL-ERROR)'],
  ['with a messageId that is a number', { messageId: 5 }, "Field 'messageId' is the wrong type"],
  ['with a priority of 300', { priority: 300 }, 'Received 300'],
];

/** All that amqplib can say of a message. */
const PROPERTIES = [
  'contentType',
  'contentEncoding',
  'headers',
  'deliveryMode',
  'priority',
  'correlationId',
  'replyTo',
  'expiration',
  'messageId',
  'timestamp',
  'type',
  'userId',
  'appId',
  'clusterId',
];

/** Headers whose values change on their way, and as what they arrive. */
const HEADERS: readonly (readonly [sent: unknown, received: unknown])[] = [
  [1.5, 1.5],
  [2 ** 53 + 2, 2 ** 53 + 2],
  [1e300, 1e300],
  [new Date(0), {}],
  [
    { '!': 'timestamp', value: 5 },
    { '!': 'timestamp', value: 5 },
  ],
  [{ '!': 'int', value: 5 }, 5],
  ['a\ud800b', 'a\ufffdb'],
  [
    [1, 'a', null, { b: [true] }],
    [1, 'a', null, { b: [true] }],
  ],
];

/** What the server takes from a publisher, and what a consumer receives of it. */
export const publishingScenarios: readonly ConformanceScenario[] = [
  ...REFUSED.map(
    ([what, properties, replies, bytes = 1]): ConformanceScenario => ({
      name: `takes or refuses a message ${what}`,
      async run(adapter) {
        const queue = freshName('published');
        await adapter.declareQueue(queue, {});
        const reply = replyFor(replies, adapter.version);
        const body = Buffer.alloc(bytes);
        await expectReply(adapter, () => adapter.publish('', queue, body, properties), reply);
        await waitForReady(adapter, queue, reply === undefined ? 1 : 0);
        await adapter.deleteQueue(queue);
      },
    }),
  ),
  {
    name: 'delivers every property, and headers as they were encoded',
    async run(adapter) {
      const queue = freshName('delivered');
      const under = await new ConsumerUnderTest(adapter, {
        queue,
        queueOptions: { consumerOptions: { consumerTag: 'mine' } },
      }).start();
      const headers = Object.fromEntries(HEADERS.map(([sent], index) => [`h${index}`, sent]));
      await send(adapter, queue, 'one', { headers, messageId: 'm1', expiration: 60_000 });
      const delivery = await under.next();
      const { fields, properties } = delivery.message;
      assert.equal(fields.consumerTag, 'mine');
      assert.deepEqual(Object.keys(properties), PROPERTIES);
      assert.deepEqual(
        Object.values(properties.headers ?? {}),
        HEADERS.map(([, received]) => received),
      );
      assert.equal(properties.expiration, '60000');
      await settle(delivery, 'ack');
      await under.close();
    },
  },
  {
    name: 'gives a consumer a tag of its own',
    async run(adapter) {
      const queue = freshName('tag');
      const under = await new ConsumerUnderTest(adapter, { queue }).start();
      await send(adapter, queue, 'one');
      const delivery = await under.next();
      assert.match(delivery.message.fields.consumerTag, /^amq\.ctag-[\w-]{22}$/);
      await settle(delivery, 'ack');
      await under.close();
    },
  },
  {
    name: 'quorum: a length in bytes is that of the bodies, and from 4.3 on of the properties, too',
    async run(adapter) {
      const [queue, dead] = [freshName('bytes'), freshName('dead')];
      await adapter.declareQueue(dead, {});
      // Ten bytes of body, and 16 for two flags, an empty table and a messageId of nine bytes.
      await adapter.declareQueue(queue, {
        'x-queue-type': 'quorum',
        'x-max-length-bytes': 25,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': dead,
      });
      await send(adapter, queue, '0123456789', { messageId: '123456789' });
      const isWhole = isAtLeast(adapter.version, [4, 3]);
      await waitForReady(adapter, isWhole ? dead : queue, 1);
      await waitForReady(adapter, isWhole ? queue : dead, 0);
    },
  },
];
