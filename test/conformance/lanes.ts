import assert from 'node:assert/strict';
import { fixed } from '../../lib/model/backoff';
import type { Delivery } from '../../lib/model/delivery';
import { drop, pauseFor, retry, retryAfter } from '../../lib/model/outcome';
import type { ConformanceAdapter, ConformanceScenario } from './adapter';
import { freshName, send, waitForReady } from './bench';
import { type Handle, Opening, SubscriptionUnderTest } from './subscription';

type Options = ConstructorParameters<typeof SubscriptionUnderTest>[1];
type QueueType = 'classic' | 'quorum';

const QUEUE_TYPES: readonly QueueType[] = ['classic', 'quorum'];

const by = ({ headers }: Delivery): string | undefined => headers['key'] as string | undefined;

// RabbitMQ shows the messages of no quorum queue with a single active consumer: scenarios look at what is handled.
const optionsOf = (queue: string, options: Partial<Options>): Options =>
  ({
    queue,
    deadLetter: `${queue}.dead`,
    prefetch: 20,
    singleActiveConsumer: true,
    retry: { attempts: 10, backoff: fixed(40) },
    onError: 'retryAfter',
    order: { by },
    ...options,
  }) as Options;

/** A subscription of a new queue, ordered by key. */
async function orderedOf(
  adapter: ConformanceAdapter,
  options: Partial<Options>,
  handle: Handle,
): Promise<{ readonly under: SubscriptionUnderTest; readonly queue: string }> {
  const queue = freshName('lanes');
  const under = new SubscriptionUnderTest(adapter, optionsOf(queue, options), handle);
  return { under: await under.start(), queue };
}

/** Publishes texts whose first character is the key; `-` is none. */
async function sendAll(adapter: ConformanceAdapter, queue: string, ...texts: string[]) {
  for (const text of texts) {
    const [key] = text;
    await send(adapter, queue, `"${text}"`, key === '-' ? {} : { headers: { key } });
  }
}

const ofKey = (under: SubscriptionUnderTest, key: string): readonly string[] =>
  under.calls.flat().filter((call) => call.startsWith(key));

/** Handles everything but the first calls of a message, which have an end of their own. */
function failing(text: string, ...ends: (() => unknown)[]): Handle {
  let count = 0;
  return ([payload]) => {
    if (payload !== text) return undefined;
    const end = ends[count];
    count += 1;
    return end?.();
  };
}

const throwing = (): never => {
  throw new Error('not yet');
};

/** A message that never succeeds, and what the key does after it. */
interface StuckRow {
  readonly whenStuck: 'deadLetter' | 'overtake';
  readonly options: Partial<Options>;
  readonly calls: readonly string[];
  readonly dead: readonly string[];
}

const STUCK: readonly StuckRow[] = [
  {
    whenStuck: 'deadLetter',
    options: { retry: { attempts: 3, backoff: fixed(40) } },
    calls: ['a1.1', 'a1.2', 'a1.3', 'a2.1'],
    dead: ['"a1" attempts'],
  },
  {
    whenStuck: 'overtake',
    options: {
      order: { by, hold: 60, whenStuck: 'overtake' },
      retry: { attempts: 3, backoff: fixed(200) },
    },
    calls: ['a1.1', 'a2.1', 'a1.2', 'a1.3'],
    dead: ['"a1" attempts'],
  },
];

/** What keeps the messages of a key in order, and what does not. */
export const laneScenarios: readonly ConformanceScenario[] = QUEUE_TYPES.flatMap(
  (queueType): readonly ConformanceScenario[] => [
    {
      name: `${queueType}: a message of a key begins when the one before has ended; others do not wait`,
      async run(adapter) {
        const gate = new Opening();
        const handle: Handle = ([payload]) => (payload === 'a1' ? gate.opened : undefined);
        const { under, queue } = await orderedOf(adapter, { queueType }, handle);
        await sendAll(adapter, queue, 'a1', 'a2', 'b1', 'a3', '-1', 'b2');
        await under.waitForWaiting(2);
        await under.settled(3);
        assert.deepEqual(under.calls.flat(), ['a1.1', 'b1.1', '-1.1', 'b2.1']);
        gate.open();
        await under.settled(6);
        assert.deepEqual(ofKey(under, 'a'), ['a1.1', 'a2.1', 'a3.1']);
        await under.close();
      },
    },
    {
      name: `${queueType}: retries of any kind keep the place of a message, and are its attempts`,
      async run(adapter) {
        const handle = failing(
          'a1',
          retry,
          () => retryAfter(20),
          throwing,
          () => {
            throw retry();
          },
        );
        const { under, queue } = await orderedOf(adapter, { queueType }, handle);
        await sendAll(adapter, queue, 'a1', 'a2', 'b1');
        assert.deepEqual(await under.settled(3), ['"a1" ack', '"a2" ack', '"b1" ack']);
        const attempts = ['a1.1', 'a1.2', 'a1.3', 'a1.4', 'a1.5', 'a2.1'];
        assert.deepEqual(ofKey(under, 'a'), attempts);
        assert.ok(under.calls.flat().indexOf('b1.1') < under.calls.flat().indexOf('a1.5'));
        await under.close();
      },
    },
    {
      name: `${queueType}: drop() and an invalid payload end a message, and its key goes on`,
      async run(adapter) {
        const { under, queue } = await orderedOf(adapter, { queueType }, failing('a1', drop));
        await sendAll(adapter, queue, 'a1');
        await send(adapter, queue, '{', { headers: { key: 'a' } });
        await sendAll(adapter, queue, 'a3');
        const ends = ['"a1" deadLetter drop', '"a3" ack', '{ deadLetter invalid-payload'];
        assert.deepEqual(await under.settled(3), ends);
        assert.deepEqual(ofKey(under, 'a'), ['a1.1', 'a3.1']);
        await under.close();
      },
    },
    ...STUCK.map(
      ({ whenStuck, options, calls, dead }): ConformanceScenario => ({
        name: `${queueType}: whenStuck '${whenStuck}' ends what never succeeds`,
        async run(adapter) {
          const given = { queueType, order: { by, whenStuck }, ...options } as Partial<Options>;
          const { under, queue } = await orderedOf(adapter, given, ([payload]) =>
            payload === 'a1' ? throwing() : undefined,
          );
          await sendAll(adapter, queue, 'a1', 'a2');
          await under.called(calls.length);
          assert.deepEqual(under.calls.flat(), calls);
          const letters = await waitForReady(adapter, `${queue}.dead`, dead.length);
          const found = letters.map(({ body, headers }) => `${body} ${headers['x-settle-reason']}`);
          assert.deepEqual(found, dead);
          await under.close();
        },
      }),
    ),
    {
      name: `${queueType}: whenStuck 'pause' stops before the message, after its attempts or hold; resume() goes on with it`,
      async run(adapter) {
        let isBroken = true;
        const handle: Handle = ([payload]) =>
          payload === 'a2' && isBroken ? throwing() : undefined;
        const order = { by, hold: 150 };
        const { under, queue } = await orderedOf(adapter, { queueType, order }, handle);
        await sendAll(adapter, queue, 'a1', 'a2', 'a3');
        await under.waitForState('paused stuck');
        const before = ofKey(under, 'a').length;
        assert.ok(before >= 3, 'tried again within hold');
        isBroken = false;
        under.active.resume();
        await under.called(before + 2);
        const after = ofKey(under, 'a')
          .slice(before)
          .map((call) => call.slice(0, 2));
        assert.deepEqual(after, ['a2', 'a3']);
        await under.acknowledged(3);
        await under.close();
      },
    },
    {
      name: `${queueType}: a pause finishes what runs and returns what waits; after resume() nothing is overtaken`,
      async run(adapter) {
        const gate = new Opening();
        const handle: Handle = ([payload]) => (payload === 'a1' ? gate.opened : undefined);
        const { under, queue } = await orderedOf(adapter, { queueType }, handle);
        await sendAll(adapter, queue, 'a1', 'a2', 'a3');
        await under.waitForWaiting(2);
        const paused = under.active.pause();
        await sendAll(adapter, queue, 'a4');
        gate.open();
        await paused;
        assert.deepEqual(under.calls.flat(), ['a1.1']);
        under.active.resume();
        await under.called(4);
        const texts = ofKey(under, 'a').map((call) => call.slice(0, 2));
        assert.deepEqual(texts, ['a1', 'a2', 'a3', 'a4']);
        await under.acknowledged(4);
        await under.close();
      },
    },
    {
      name: `${queueType}: pauseFor() returns a message to its place`,
      async run(adapter) {
        const handle = failing('a1', () => pauseFor(300));
        const { under, queue } = await orderedOf(adapter, { queueType }, handle);
        await sendAll(adapter, queue, 'a1', 'a2');
        await under.waitForState('paused pauseFor');
        await sendAll(adapter, queue, 'a3');
        await under.called(4);
        const texts = ofKey(under, 'a').map((call) => call.slice(0, 2));
        assert.deepEqual(texts, ['a1', 'a1', 'a2', 'a3']);
        await under.acknowledged(3);
        await under.close();
      },
    },
    {
      name: `${queueType}: a shutdown finishes what runs; the next consumer goes on in order`,
      async run(adapter) {
        const gate = new Opening();
        const handle: Handle = ([payload]) => (payload === 'a1' ? gate.opened : undefined);
        const { under, queue } = await orderedOf(adapter, { queueType }, handle);
        await sendAll(adapter, queue, 'a1', 'a2', 'b1', 'a3');
        await under.waitForWaiting(2);
        const closed = under.close();
        await sendAll(adapter, queue, 'a4');
        gate.open();
        await closed;
        assert.deepEqual(ofKey(under, 'a'), ['a1.1']);
        const next = new SubscriptionUnderTest(adapter, optionsOf(queue, { queueType }), () => {});
        await next.start();
        await next.called(3);
        const texts = ofKey(next, 'a').map((call) => call.slice(0, 2));
        assert.deepEqual(texts, ['a2', 'a3', 'a4']);
        await next.acknowledged(3);
        await next.close();
      },
    },
    {
      name: `${queueType}: after a lost channel a key is handled again from the message that ran, once that has ended`,
      async run(adapter) {
        const gate = new Opening();
        const handle: Handle = ([payload]) =>
          payload === 'a1' && under.calls.length === 1 ? gate.opened : undefined;
        const { under, queue } = await orderedOf(adapter, { queueType }, handle);
        await sendAll(adapter, queue, 'a1', 'a2', 'a3');
        await under.waitForWaiting(2);
        await adapter.loseConnections();
        await under.waitForWaiting(3);
        assert.deepEqual(under.calls.flat(), ['a1.1']);
        gate.open();
        await under.called(4);
        const texts = ofKey(under, 'a').map((call) => call.slice(0, 2));
        assert.deepEqual(texts, ['a1', 'a1', 'a2', 'a3']);
        await under.acknowledged(3);
        await under.close();
      },
    },
  ],
);
