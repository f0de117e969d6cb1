import assert from 'node:assert/strict';
import type { ConformanceAdapter, ConformanceScenario } from './adapter';
import { freshName, waitForReady } from './bench';

type Type = 'direct' | 'topic' | 'fanout' | 'headers';

/** One binding, by a key or by arguments. */
type Binding = string | Readonly<Record<string, unknown>>;

/** One message, by its key or its headers, and the bindings that match. */
type Row = readonly [sent: Binding, matching: readonly number[]];

const TABLES: readonly (readonly [Type, readonly Binding[], readonly Row[]])[] = [
  [
    'direct',
    ['a', 'a.b', ''],
    [
      ['a', [0]],
      ['a.b', [1]],
      ['', [2]],
      ['*', []],
    ],
  ],
  [
    'topic',
    ['', '*', '#', 'a.*', 'a.#', '#.b', '*.#.*', 'a.b'],
    [
      ['', [0, 2]],
      ['a', [1, 2, 4]],
      ['a.b', [2, 3, 4, 5, 6, 7]],
      ['a.x.b', [2, 4, 5, 6]],
      ['b', [1, 2, 5]],
      ['.', [2, 6]],
      ['a.', [2, 3, 4, 6]],
    ],
  ],
  [
    'fanout',
    ['a', ''],
    [
      ['a', [0, 1]],
      ['else', [0, 1]],
    ],
  ],
  [
    'headers',
    [
      { 'x-match': 'all', a: 1, b: 'x' },
      { 'x-match': 'any', a: 1, b: 'x' },
      { a: 1, b: 'x' },
      { 'x-match': 'all' },
      { 'x-match': 'any' },
      { 'x-match': 'all', 'x-own': 1, a: 1 },
    ],
    [
      [{ a: 1, b: 'x', more: true }, [0, 1, 2, 3, 5]],
      [{ a: 1 }, [1, 3, 5]],
      [{ a: '1' }, [3]],
      [{}, [3]],
    ],
  ],
];

/** Which bindings match a message, for each type of exchange. */
export const routingScenarios: readonly ConformanceScenario[] = TABLES.map(
  ([type, bindings, rows]) => ({
    name: `${type}: an exchange routes by its bindings`,
    async run(adapter) {
      const exchange = freshName(type);
      await adapter.declareExchange(exchange, type);
      const queues = await Promise.all(bindings.map((one) => bound(adapter, exchange, one)));
      for (const [index, [sent]] of rows.entries()) {
        const [key, properties] = typeof sent === 'string' ? [sent, {}] : ['', { headers: sent }];
        await adapter.publish(exchange, key, Buffer.from(`${index}`), properties);
      }
      for (const [number, queue] of queues.entries()) {
        const through = rows.flatMap(([, list], index) =>
          list.includes(number) ? [`${index}`] : [],
        );
        const messages = await waitForReady(adapter, queue, through.length);
        const bodies = messages.map(({ body }) => body.toString());
        assert.deepEqual(bodies, through, JSON.stringify(bindings[number]));
      }
    },
  }),
);

async function bound(
  adapter: ConformanceAdapter,
  exchange: string,
  binding: Binding,
): Promise<string> {
  const queue = freshName('bound');
  await adapter.declareQueue(queue, {});
  if (typeof binding === 'string') await adapter.bind(queue, exchange, binding);
  else await adapter.bind(queue, exchange, '', binding);
  return queue;
}
