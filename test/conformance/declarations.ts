import assert from 'node:assert/strict';
import { isAtLeast, type ServerVersion } from '../../lib/amqp/queue-declarations';
import type { ConformanceAdapter, ConformanceScenario, QueueOptions } from './adapter';
import { freshName } from './bench';

type Table = Readonly<Record<string, unknown>>;

/** What the server replies, from some version on; `undefined`: it accepts the declaration. */
export type Replies =
  | string
  | undefined
  | readonly (readonly [from: ServerVersion, reply?: string])[];

type Row = readonly [args: Table, reply: Replies, options?: QueueOptions];

const QUORUM = { 'x-queue-type': 'quorum' };
const FROM_4_3 = (reply: string): Replies => [[[3, 10]], [[4, 3], reply]];
const UNTIL_4_3 = (reply: string): Replies => [[[3, 10], reply], [[4, 3]]];
const OF_TYPE = (name: string, type: string): string =>
  `invalid arg '${name}' for queue 'Q' in vhost '/' of queue type rabbit_${type}_queue`;
const VALUE = (name: string, reason: string): string =>
  `invalid arg '${name}' for queue 'Q' in vhost '/': ${reason}`;
const INTEGER = (name: string, type: string): string =>
  VALUE(name, `"expected integer, got ${type}"`);

const QUEUES: readonly Row[] = [
  [{ ...QUORUM, 'x-max-priority': 5 }, OF_TYPE('x-max-priority', 'quorum')],
  [{ ...QUORUM, 'x-queue-mode': 'lazy' }, OF_TYPE('x-queue-mode', 'quorum')],
  [{ ...QUORUM, 'x-queue-version': 2 }, OF_TYPE('x-queue-version', 'quorum')],
  [{ ...QUORUM, 'x-queue-master-locator': 'a' }, OF_TYPE('x-queue-master-locator', 'quorum')],
  [QUORUM, "invalid property 'auto-delete' for queue 'Q' in vhost '/'", { autoDelete: true }],
  [QUORUM, "invalid property 'exclusive-owner' for queue 'Q' in vhost '/'", { exclusive: true }],
  [QUORUM, "invalid property 'non-durable' for queue 'Q' in vhost '/'", { durable: false }],
  [{ 'x-delivery-limit': 3 }, OF_TYPE('x-delivery-limit', 'classic')],
  [{ 'x-dead-letter-strategy': 'at-least-once' }, OF_TYPE('x-dead-letter-strategy', 'classic')],
  [{ 'x-quorum-initial-group-size': 1 }, OF_TYPE('x-quorum-initial-group-size', 'classic')],
  [{ 'x-max-age': '1D' }, OF_TYPE('x-max-age', 'classic')],
  [
    { 'x-queue-leader-locator': 'balanced' },
    [[[3, 10], OF_TYPE('x-queue-leader-locator', 'classic')], [[4, 0]]],
  ],
  [{ 'x-consumer-timeout': 60_000 }, FROM_4_3(OF_TYPE('x-consumer-timeout', 'classic'))],
  [{ 'x-delayed-retry-type': 'all' }, FROM_4_3(OF_TYPE('x-delayed-retry-type', 'classic'))],
  [
    { ...QUORUM, 'x-consumer-timeout': -1 },
    FROM_4_3(VALUE('x-consumer-timeout', '{value_negative,-1}')),
  ],
  [{ ...QUORUM, 'x-delayed-retry-type': 'nonsense' }, undefined],
  [{ ...QUORUM, 'x-delivery-limit': 'nonsense' }, undefined],
  [{ ...QUORUM, 'x-overflow': 'reject-publish-dlx' }, undefined],
  [{ 'x-message-ttl': '500' }, INTEGER('x-message-ttl', 'longstr')],
  [{ 'x-message-ttl': 1.5 }, INTEGER('x-message-ttl', 'double')],
  [{ 'x-message-ttl': true }, INTEGER('x-message-ttl', 'bool')],
  [{ 'x-message-ttl': null }, INTEGER('x-message-ttl', 'void')],
  [{ 'x-message-ttl': -1 }, VALUE('x-message-ttl', '{value_negative,-1}')],
  [{ 'x-message-ttl': 0 }, undefined],
  [{ 'x-message-ttl': 315_360_000_001 }, VALUE('x-message-ttl', '{value_too_large,315360000001}')],
  [{ 'x-expires': 0 }, VALUE('x-expires', '{value_zero,0}')],
  [{ 'x-expires': -1 }, VALUE('x-expires', '{value_negative,-1}')],
  [{ 'x-max-length': -1 }, VALUE('x-max-length', '{value_negative,-1}')],
  [{ 'x-max-length-bytes': 'a' }, INTEGER('x-max-length-bytes', 'longstr')],
  [{ 'x-max-priority': -1 }, VALUE('x-max-priority', '{value_negative,-1}')],
  [{ 'x-max-priority': 255 }, undefined],
  [{ 'x-max-priority': 256 }, VALUE('x-max-priority', '{max_value_exceeded,256}')],
  [{ 'x-overflow': 'nonsense' }, VALUE('x-overflow', 'invalid_overflow')],
  [{ 'x-overflow': 5 }, VALUE('x-overflow', '{unacceptable_type,byte}')],
  [
    { 'x-queue-mode': 'nonsense' },
    UNTIL_4_3(VALUE('x-queue-mode', `"unsupported queue mode 'nonsense'"`)),
  ],
  [{ 'x-queue-version': 3 }, VALUE('x-queue-version', `"unsupported queue version '3'"`)],
  [{ 'x-queue-version': 1 }, FROM_4_3(VALUE('x-queue-version', `"unsupported queue version '1'"`))],
  [{ 'x-queue-type': 'nonsense' }, VALUE('x-queue-type', `"unsupported queue type 'nonsense'"`)],
  [{ 'x-queue-type': 5 }, VALUE('x-queue-type', '{unacceptable_type,byte}')],
  [{ 'x-queue-type': '' }, UNTIL_4_3(VALUE('x-queue-type', `"unsupported queue type ''"`))],
  [
    { 'x-single-active-consumer': 1 },
    VALUE('x-single-active-consumer', '{unacceptable_type,byte}'),
  ],
  [
    { 'x-dead-letter-exchange': 70_000 },
    "invalid type 'signedint' for arg 'x-dead-letter-exchange' in queue 'Q' in vhost '/'",
  ],
  [
    { 'x-dead-letter-routing-key': 'a' },
    VALUE('x-dead-letter-routing-key', 'routing_key_but_no_dlx_defined'),
  ],
  [
    { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': ['a'] },
    VALUE('x-dead-letter-routing-key', '{unacceptable_type,array}'),
  ],
  [
    { ...QUORUM, 'x-dead-letter-strategy': 'nonsense' },
    VALUE('x-dead-letter-strategy', 'invalid_dlx_strategy'),
  ],
  [
    { ...QUORUM, 'x-quorum-initial-group-size': 0 },
    VALUE('x-quorum-initial-group-size', '{value_zero,0}'),
  ],
  [
    { ...QUORUM, 'x-queue-leader-locator': 'nonsense' },
    VALUE('x-queue-leader-locator', 'invalid_queue_locator_arg'),
  ],
  // A value goes before an argument of another type, and that before a property.
  [
    { ...QUORUM, 'x-max-priority': 5, 'x-max-length': -1 },
    VALUE('x-max-length', '{value_negative,-1}'),
  ],
  [{ ...QUORUM, 'x-max-priority': 5 }, OF_TYPE('x-max-priority', 'quorum'), { autoDelete: true }],
  [{ 'x-nonsense': 1 }, undefined],
];

/** Declarations that differ from the queue that exists. */
const REDECLARED: readonly (readonly [present: Table, wanted: Table, reply: Replies])[] = [
  [{ 'x-max-length': 7 }, { 'x-max-length': '7' }, differs('x-max-length', "'7'", "'7'")],
  [{}, { 'x-message-ttl': -1 }, differs('x-message-ttl', "the value '-1' of type 'byte'", 'none')],
  [{}, { 'x-max-age': '1D' }, undefined],
  [
    {},
    { 'x-single-active-consumer': false },
    differs('x-single-active-consumer', "the value 'false' of type 'bool'", 'none'),
  ],
  [{ 'x-queue-type': 'classic' }, QUORUM, differs('x-queue-type', "'quorum'", "'classic'")],
  [
    {},
    QUORUM,
    [
      [[3, 10], differs('x-queue-type', "the value 'quorum' of type 'longstr'", 'none')],
      [[4, 0], differs('x-queue-type', "'quorum'", "'classic'")],
    ],
  ],
  [
    QUORUM,
    {},
    [
      [[3, 10], differs('x-queue-type', 'none', "the value 'quorum' of type 'longstr'")],
      [[4, 0], differs('x-queue-type', "'classic'", "'quorum'")],
    ],
  ],
];

function differs(name: string, received: string, current: string): string {
  return `inequivalent arg '${name}' for queue 'Q' in vhost '/': received ${received} but current is ${current}`;
}

/** The reply of a server of this version. */
export function replyFor(replies: Replies, version: ServerVersion): string | undefined {
  if (replies === undefined || typeof replies === 'string') return replies;
  return replies.filter(([from]) => isAtLeast(version, from)).at(-1)?.[1];
}

/** Runs what the server accepts or refuses, and compares its reply. */
export async function expectReply(
  adapter: ConformanceAdapter,
  work: () => Promise<unknown>,
  reply: string | undefined,
): Promise<void> {
  const found = await work().then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (reply === undefined) assert.equal(found, undefined);
  else assert.ok(found?.includes(reply), `${adapter.version.join('.')}: ${found} is not ${reply}`);
}

/** What a queue can be declared with. */
export const declarationScenarios: readonly ConformanceScenario[] = [
  ...QUEUES.map(
    ([args, replies, options]): ConformanceScenario => ({
      name: `declares or refuses a queue with ${JSON.stringify({ ...options, ...args })}`,
      async run(adapter) {
        const queue = freshName('declared');
        const reply = replyFor(replies, adapter.version)?.replace('Q', queue);
        await expectReply(
          adapter,
          () => adapter.declareQueue(queue, args, options),
          reply && `406 (PRECONDITION-FAILED) with message "PRECONDITION_FAILED - ${reply}"`,
        );
        if (reply === undefined) await adapter.deleteQueue(queue);
        else assert.equal(await adapter.messages(queue), undefined);
      },
    }),
  ),
  ...REDECLARED.map(
    ([present, wanted, replies]): ConformanceScenario => ({
      name: `compares a queue with ${JSON.stringify(present)} and one with ${JSON.stringify(wanted)}`,
      async run(adapter) {
        const queue = freshName('redeclared');
        await adapter.declareQueue(queue, present);
        const reply = replyFor(replies, adapter.version)?.replace('Q', queue);
        await expectReply(adapter, () => adapter.declareQueue(queue, wanted), reply);
        await adapter.deleteQueue(queue);
      },
    }),
  ),
  {
    name: 'refuses a quorum queue that the server would name',
    async run(adapter) {
      const reply = 'Cannot declare a server-named queue for type rabbit_quorum_queue';
      await expectReply(adapter, () => adapter.declareQueue('', QUORUM), reply);
    },
  },
];
