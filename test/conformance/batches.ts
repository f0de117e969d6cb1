import assert from 'node:assert/strict';
import { fixed } from '../../lib/model/backoff';
import { ack, drop, pauseFor, retryAfter } from '../../lib/model/outcome';
import type { ConformanceAdapter, ConformanceScenario } from './adapter';
import { freshName, send, waitForReady } from './bench';
import { type Call, type Handle, Opening, SubscriptionUnderTest } from './subscription';

type Options = ConstructorParameters<typeof SubscriptionUnderTest>[1];
type QueueType = 'classic' | 'quorum';

const QUEUE_TYPES: readonly QueueType[] = ['classic', 'quorum'];
const THREE = ['1', '2', '3'];
const never = (): Promise<never> => new Promise(() => {});

/** What becomes of a batch of the messages 1, 2 and 3, each with two attempts. */
interface Row {
  /** What the handler does, as a part of a sentence. */
  readonly what: string;
  readonly handle: Handle;
  readonly options?: Partial<Options>;
  /** The calls after the first one, sorted. */
  readonly later?: readonly Call[];
  readonly settled: readonly string[];
  /** The bodies that are dead-lettered, with the reason, sorted. */
  readonly dead?: readonly string[];
}

const each = (end: string): readonly string[] => THREE.map((body) => `${body} ${end}`);

const ROWS: readonly Row[] = [
  { what: 'nothing acknowledges each', handle: () => undefined, settled: each('ack') },
  { what: 'one outcome is that of each', handle: () => ack(), settled: each('ack') },
  {
    what: 'one drop() dead-letters each',
    handle: () => drop(),
    settled: each('deadLetter drop'),
    dead: each('drop'),
  },
  {
    what: 'a list has one outcome for each',
    handle: () => [undefined, drop(), ack()],
    settled: ['1 ack', '2 deadLetter drop', '3 ack'],
    dead: ['2 drop'],
  },
  {
    what: 'a promise of a list has one outcome for each',
    handle: async () => [ack(), ack(), drop()],
    settled: ['1 ack', '2 ack', '3 deadLetter drop'],
    dead: ['3 drop'],
  },
  {
    what: 'a thrown outcome is that of each',
    handle: () => {
      throw drop();
    },
    settled: each('deadLetter drop'),
    dead: each('drop'),
  },
  {
    what: 'an error is the failure of each',
    handle: () => {
      throw new Error('no');
    },
    settled: each('deadLetter error'),
    dead: each('error'),
  },
  {
    what: 'a list of another length is a panic of each',
    handle: () => [undefined],
    options: { onPanic: 'drop' },
    settled: each('deadLetter panic'),
    dead: each('panic'),
  },
  {
    what: 'a timeout is the failure of each',
    handle: never,
    options: { timeout: 200 },
    settled: each('deadLetter timeout'),
    dead: each('timeout'),
  },
  {
    what: 'a delayed retry comes alone; at the cap it is dead-lettered',
    handle: (payloads) => payloads.map((payload) => (payload === 2 ? retryAfter() : undefined)),
    later: [['2.2']],
    settled: ['1 ack', '2 deadLetter attempts', '2 republish', '3 ack'],
    dead: ['2 attempts'],
  },
  {
    what: 'what fails together comes alone; only what fails again is dead-lettered',
    handle: (payloads) => {
      if (payloads.includes(2)) throw new Error('poison');
    },
    options: { onError: 'retryAfter' },
    later: [['1.2'], ['2.2'], ['3.2']],
    settled: [
      '1 ack',
      '1 republish',
      '2 deadLetter attempts',
      '2 republish',
      '3 ack',
      '3 republish',
    ],
    dead: ['2 attempts'],
  },
];

/** A subscription of a new queue with batches of at most three messages. */
async function batchesOf(
  adapter: ConformanceAdapter,
  options: Partial<Options>,
  handle: Handle,
): Promise<{ readonly under: SubscriptionUnderTest; readonly queue: string }> {
  const queue = freshName('batch');
  const under = new SubscriptionUnderTest(
    adapter,
    {
      queue,
      deadLetter: `${queue}.dead`,
      retry: { attempts: 2, backoff: fixed(50) },
      batch: { size: 3, wait: 300 },
      ...options,
    } as Options,
    handle,
  );
  return { under: await under.start(), queue };
}

async function sendAll(
  adapter: ConformanceAdapter,
  queue: string,
  texts: readonly string[],
): Promise<void> {
  for (const text of texts) await send(adapter, queue, text);
}

async function deadOf(adapter: ConformanceAdapter, queue: string, count: number) {
  const messages = await waitForReady(adapter, `${queue}.dead`, count);
  return messages.map(({ body, headers }) => `${body} ${headers['x-settle-reason']}`).sort();
}

// The type of the queue matters to retries only.
const outcomeScenarios = QUEUE_TYPES.flatMap((queueType) =>
  ROWS.filter(({ later }) => queueType === 'classic' || later !== undefined).map(
    ({ what, handle, options, later = [], settled, dead = [] }): ConformanceScenario => ({
      name: `${queueType}: the result of a batch: ${what}`,
      async run(adapter) {
        const { under, queue } = await batchesOf(adapter, { queueType, ...options }, handle);
        await sendAll(adapter, queue, THREE);
        assert.deepEqual(await under.settled(settled.length), settled);
        const [first, ...rest] = under.calls;
        assert.deepEqual(first, ['1.1', '2.1', '3.1']);
        assert.deepEqual(rest.map(String).sort(), later.map(String));
        assert.deepEqual(await deadOf(adapter, queue, dead.length), dead);
        await under.close();
        await waitForReady(adapter, queue, 0);
      },
    }),
  ),
);

/** How batches are collected, handled and left. */
export const batchScenarios: readonly ConformanceScenario[] = [
  ...outcomeScenarios,
  ...QUEUE_TYPES.flatMap((queueType): readonly ConformanceScenario[] => [
    {
      name: `${queueType}: a batch that is not full is handled when its first message has waited`,
      async run(adapter) {
        const { under, queue } = await batchesOf(adapter, { queueType }, () => undefined);
        await sendAll(adapter, queue, ['1', '2']);
        assert.deepEqual(await under.settled(2), ['1 ack', '2 ack']);
        assert.deepEqual(under.calls, [['1.1', '2.1']]);
        await under.close();
      },
    },
    {
      name: `${queueType}: an invalid payload is never in a batch`,
      async run(adapter) {
        const batch = { size: 2, wait: 5_000 };
        const { under, queue } = await batchesOf(adapter, { queueType, batch }, () => undefined);
        await sendAll(adapter, queue, ['1', '{', '2']);
        const ends = ['1 ack', '2 ack', '{ deadLetter invalid-payload'];
        assert.deepEqual(await under.settled(3), ends);
        assert.deepEqual(under.calls, [['1.1', '2.1']]);
        assert.deepEqual(await deadOf(adapter, queue, 1), ['{ invalid-payload']);
        await under.close();
      },
    },
    {
      name: `${queueType}: what is collected when the application stops goes back, without an attempt`,
      async run(adapter) {
        const batch = { size: 3, wait: 60_000 };
        const { under, queue } = await batchesOf(adapter, { queueType, batch }, () => undefined);
        await sendAll(adapter, queue, ['1', '2']);
        await under.waitForWaiting(2);
        await under.close();
        assert.deepEqual(under.calls, []);
        assert.deepEqual(await under.settled(2), ['1 requeue released', '2 requeue released']);
        const ready = await waitForReady(adapter, queue, 2);
        assert.deepEqual(
          ready.map(({ body }) => body.toString()),
          ['1', '2'],
        );
      },
    },
    {
      name: `${queueType}: a batch that runs when the application stops is settled`,
      async run(adapter) {
        const gate = new Opening();
        const { under, queue } = await batchesOf(adapter, { queueType }, () => gate.opened);
        await sendAll(adapter, queue, THREE);
        await under.called(1);
        const closed = under.close();
        gate.open();
        await closed;
        assert.deepEqual(await under.settled(3), each('ack'));
        await waitForReady(adapter, queue, 0);
      },
    },
    {
      name: `${queueType}: a lost channel forgets what is collected, and nothing of a batch that runs is settled`,
      async run(adapter) {
        const gate = new Opening();
        const reasons: string[] = [];
        const handle: Handle = (_payloads, deliveries) => {
          if (under.calls.length > 1) return undefined;
          for (const { signal } of deliveries) {
            signal.addEventListener('abort', () => reasons.push(signal.reason.name));
          }
          return gate.opened;
        };
        const batch = { size: 2, wait: 300, isolateRetries: false };
        const options = { queueType, prefetch: 10, batch, retry: { attempts: 5 } };
        const { under, queue } = await batchesOf(adapter, options, handle);
        await sendAll(adapter, queue, THREE);
        await under.called(1);
        await under.waitForWaiting(1);
        await adapter.loseConnections();
        await under.waitForWaiting(3);
        assert.deepEqual(reasons, ['ChannelLostError', 'ChannelLostError']);
        gate.open();
        const ends = ['1 ack', '1 ack abandoned', '2 ack', '2 ack abandoned', '3 ack'];
        assert.deepEqual(await under.settled(5), ends);
        await under.close();
        await waitForReady(adapter, queue, 0);
      },
    },
    {
      name: `${queueType}: pauseFor() of one message pauses for all; it comes again without an attempt`,
      async run(adapter) {
        const handle: Handle = (payloads) =>
          payloads.map((payload) =>
            payload === 2 && under.calls.length === 1 ? pauseFor(400) : undefined,
          );
        const { under, queue } = await batchesOf(adapter, { queueType }, handle);
        await sendAll(adapter, queue, THREE);
        await under.waitForState('paused pauseFor');
        await send(adapter, queue, '4');
        await under.waitForState('consuming');
        // Where a requeue counts as an attempt, the message is republished instead.
        const isCounted = queueType === 'quorum' && adapter.countsUnprocessed;
        const back = isCounted ? '2 republish' : '2 requeue';
        const ends = ['1 ack', '2 ack', back, '3 ack', '4 ack'];
        assert.deepEqual(await under.settled(5), ends);
        assert.deepEqual(under.calls.slice(1).flat().sort(), ['2.1', '4.1']);
        await under.close();
      },
    },
    {
      name: `${queueType}: failFast leaves the whole batch`,
      async run(adapter) {
        const handle: Handle = () => {
          throw new ReferenceError('a bug');
        };
        const { under, queue } = await batchesOf(adapter, { queueType }, handle);
        await sendAll(adapter, queue, THREE);
        assert.deepEqual(await under.settled(3), each('leaveUnsettled none'));
        await under.close();
        await waitForReady(adapter, queue, 3);
      },
    },
  ]),
];
