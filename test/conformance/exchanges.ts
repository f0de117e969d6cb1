import assert from 'node:assert/strict';
import type { ConformanceAdapter, ConformanceScenario, ExchangeOptions } from './adapter';
import { freshName, waitForReady } from './bench';
import { expectReply, type Replies, replyFor } from './declarations';

const UNKNOWN = (type: string): Replies => [
  [
    [3, 10],
    `503 (COMMAND-INVALID) with message "COMMAND_INVALID - unknown exchange type '${type}'`,
  ],
  [
    [4, 0],
    `406 (PRECONDITION-FAILED) with message "PRECONDITION_FAILED - unknown exchange type '${type}'`,
  ],
];

const TYPES: readonly (readonly [type: string, reply: Replies])[] = [
  ['nonsense', UNKNOWN('nonsense')],
  ['x-delayed-message', UNKNOWN('x-delayed-message')],
  ['headers', undefined],
];

/** Declarations that differ from the exchange that exists, by the argument in which they do. */
const REDECLARED: readonly (readonly [
  arg: string,
  present: ExchangeOptions,
  wanted: ExchangeOptions,
  difference: string,
])[] = [
  ['auto_delete', { autoDelete: true }, {}, "received 'false' but current is 'true'"],
  ['internal', {}, { internal: true }, "received 'true' but current is 'false'"],
  ['durable', { durable: false }, {}, "received 'true' but current is 'false'"],
  [
    'alternate-exchange',
    {},
    { alternateExchange: 'b' },
    "received the value 'b' of type 'longstr' but current is none",
  ],
  [
    'alternate-exchange',
    { alternateExchange: 'b' },
    { alternateExchange: 'c' },
    "received 'c' but current is 'b'",
  ],
];

const DEFAULT = 'ACCESS_REFUSED - operation not permitted on the default exchange';

/** Exchanges and bindings: what the server declares, refuses and deletes. */
export const exchangeScenarios: readonly ConformanceScenario[] = [
  ...TYPES.map(
    ([type, replies]): ConformanceScenario => ({
      name: `declares or refuses an exchange of type ${type}`,
      async run(adapter) {
        const reply = replyFor(replies, adapter.version);
        await expectReply(adapter, () => adapter.declareExchange(freshName('type'), type), reply);
      },
    }),
  ),
  ...REDECLARED.map(
    ([arg, present, wanted, difference]): ConformanceScenario => ({
      name: `refuses an exchange that exists with another ${arg}: ${difference}`,
      async run(adapter) {
        const exchange = freshName('redeclared');
        await adapter.declareExchange(exchange, 'direct', present);
        await expectReply(
          adapter,
          () => adapter.declareExchange(exchange, 'direct', wanted),
          `inequivalent arg '${arg}' for exchange '${exchange}' in vhost '/': ${difference}`,
        );
      },
    }),
  ),
  ...(
    [
      [
        'a reserved name',
        'amq.conformance',
        {},
        "exchange name 'amq.conformance' contains reserved",
      ],
      ['no name', '', {}, DEFAULT],
      [
        'an alternate exchange that is a number',
        'alternate',
        { arguments: { 'alternate-exchange': 5 } },
        "invalid type 'byte' for arg 'alternate-exchange' in exchange 'alternate' in vhost '/'",
      ],
      ['the name and type of an exchange of the server', 'amq.direct', {}, undefined],
    ] as const
  ).map(
    ([what, name, options, reply]): ConformanceScenario => ({
      name: `declares or refuses an exchange with ${what}`,
      run: (adapter) =>
        expectReply(adapter, () => adapter.declareExchange(name, 'direct', options), reply),
    }),
  ),
  ...(
    [
      ['the default exchange', '', '', {}, DEFAULT],
      ['an exchange that does not exist', 'nobody', '', {}, "no exchange 'nobody' in vhost '/'"],
      [
        'an x-match that does not exist',
        'amq.headers',
        '',
        { 'x-match': 'nonsense' },
        'Invalid x-match field value <<"nonsense">>; expected all, any, all-with-x, or any-with-x',
      ],
      [
        'an x-match that is a number',
        'amq.headers',
        '',
        { 'x-match': 5 },
        'Invalid x-match field type byte (value 5); expected longstr',
      ],
      ['an x-match that means nothing', 'amq.direct', '', { 'x-match': 5 }, undefined],
    ] as const
  ).map(
    ([what, exchange, key, args, reply]): ConformanceScenario => ({
      name: `binds a queue with ${what}, or refuses`,
      async run(adapter) {
        const queue = freshName('bound');
        await adapter.declareQueue(queue, {});
        await expectReply(adapter, () => adapter.bind(queue, exchange, key, args), reply);
      },
    }),
  ),
  {
    name: 'names the exchange first if neither it nor the queue exists',
    run: (adapter) =>
      expectReply(adapter, () => adapter.bind('nobody', 'nowhere', ''), "no exchange 'nowhere'"),
  },
  {
    name: 'an exchange that is deleted with its last binding',
    async run(adapter) {
      const [exchange, one, other] = [freshName('auto'), freshName('one'), freshName('other')];
      await adapter.declareExchange(exchange, 'fanout', { autoDelete: true });
      for (const queue of [one, other]) {
        await adapter.declareQueue(queue, {});
        await adapter.bind(queue, exchange, '');
      }
      await adapter.deleteQueue(one);
      await publish(adapter, exchange, undefined);
      await waitForReady(adapter, other, 1);
      await adapter.deleteQueue(other);
      await publish(adapter, exchange, `404 (NOT-FOUND) with message "NOT_FOUND - no exchange`);
    },
  },
  {
    name: 'an internal exchange takes nothing from a client',
    async run(adapter) {
      const exchange = freshName('internal');
      await adapter.declareExchange(exchange, 'fanout', { internal: true });
      const reply = `403 (ACCESS-REFUSED) with message "ACCESS_REFUSED - cannot publish to internal exchange '${exchange}' in vhost '/'"`;
      await publish(adapter, exchange, reply);
    },
  },
  {
    name: 'an alternate exchange that does not exist discards',
    async run(adapter) {
      const exchange = freshName('alternate');
      await adapter.declareExchange(exchange, 'fanout', { alternateExchange: 'nobody' });
      await publish(adapter, exchange, undefined);
      assert.ok(true);
    },
  },
];

function publish(
  adapter: ConformanceAdapter,
  exchange: string,
  reply: string | undefined,
): Promise<void> {
  return expectReply(adapter, () => adapter.publish(exchange, '', Buffer.from(''), {}), reply);
}
