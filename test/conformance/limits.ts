import assert from 'node:assert/strict';
import type { ConformanceAdapter, ConformanceScenario } from './adapter';
import { freshName, send, waitForReady } from './bench';

type Table = Readonly<Record<string, unknown>>;

interface Row {
  readonly args: Table;
  readonly texts: readonly string[];
  /** Whether the queue took each. */
  readonly taken?: readonly boolean[];
  /** What is ready afterwards. */
  readonly ready: readonly string[];
}

const TENS = ['aaaaaaaaaa', 'bbbbbbbbbb', 'cccccccccc', 'dddddddddd'];

const CLASSIC: readonly Row[] = [
  { args: { 'x-max-length-bytes': 20 }, texts: TENS, ready: TENS.slice(2) },
  { args: { 'x-max-length-bytes': 29 }, texts: TENS, ready: TENS.slice(2) },
  { args: { 'x-max-length-bytes': 9 }, texts: ['a', ...TENS.slice(1), 'e'], ready: ['e'] },
  {
    args: { 'x-max-length-bytes': 20, 'x-overflow': 'reject-publish' },
    texts: TENS,
    taken: [true, true, false, false],
    ready: TENS.slice(0, 2),
  },
  {
    args: { 'x-max-length': 2, 'x-overflow': 'reject-publish' },
    texts: TENS,
    taken: [true, true, false, false],
    ready: TENS.slice(0, 2),
  },
  { args: { 'x-max-length': 0 }, texts: TENS, ready: [] },
  {
    args: { 'x-max-length': 0, 'x-overflow': 'reject-publish' },
    texts: TENS.slice(0, 2),
    taken: [false, false],
    ready: [],
  },
];

const QUORUM: readonly Row[] = [
  { args: { 'x-max-length': 2 }, texts: TENS, ready: TENS.slice(2) },
  // One message more than the limit is taken.
  {
    args: { 'x-max-length': 2, 'x-overflow': 'reject-publish' },
    texts: TENS,
    taken: [true, true, true, false],
    ready: TENS.slice(0, 3),
  },
  {
    args: { 'x-max-length': 0, 'x-overflow': 'reject-publish' },
    texts: TENS.slice(0, 2),
    taken: [true, false],
    ready: TENS.slice(0, 1),
  },
];

/** The length limits of a queue. */
export const lengthScenarios: readonly ConformanceScenario[] = [
  ...CLASSIC.map((row) => scenarioOf('classic', row)),
  ...QUORUM.map((row) => scenarioOf('quorum', row)),
];

function scenarioOf(queueType: 'classic' | 'quorum', row: Row): ConformanceScenario {
  const { args, texts, ready, taken = texts.map(() => true) } = row;
  return {
    name: `${queueType}: keeps ${ready.length} of ${texts.length} messages with ${JSON.stringify(args)}`,
    async run(adapter) {
      const queue = freshName('length');
      await adapter.declareQueue(queue, { 'x-queue-type': queueType, ...args });
      const results: boolean[] = [];
      for (const text of texts) {
        results.push(await send(adapter, queue, text));
        // A quorum queue tells its publishers after it has taken the message.
        await adapter.pass(50);
      }
      assert.deepEqual(results, taken);
      assert.deepEqual(await bodies(adapter, queue, ready.length), ready);
    },
  };
}

async function bodies(
  adapter: ConformanceAdapter,
  queue: string,
  count: number,
): Promise<readonly string[]> {
  return (await waitForReady(adapter, queue, count)).map(({ body }) => body.toString());
}
