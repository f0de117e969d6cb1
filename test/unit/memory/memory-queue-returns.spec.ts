import { describe, expect, it } from 'vitest';
import { ServerUnderTest } from './server';

const DEAD = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' };

describe('requeueing on a quorum queue', () => {
  async function requeuesUntilDead(version: readonly [number, number], args = {}): Promise<number> {
    const test = new ServerUnderTest(version);
    test.declare('dead');
    test.declare('queue', { 'x-queue-type': 'quorum', ...DEAD, ...args });
    const consumer = test.consume('queue');
    test.send('queue', 'one');
    await test.turn();
    for (let requeues = 1; requeues <= 30; requeues += 1) {
      consumer.channel.settle(consumer.lastTag, 'requeueFailed');
      await test.turn();
      if (test.ready('dead').length > 0) return requeues;
    }
    return Number.POSITIVE_INFINITY;
  }

  it.each([
    ['3.10 never reaches a limit by default', [3, 10], {}, Number.POSITIVE_INFINITY],
    ['4.0 has a default limit of 20', [4, 0], {}, 21],
    ['4.3 has no limit with -1', [4, 3], { 'x-delivery-limit': -1 }, Number.POSITIVE_INFINITY],
    ['3.10 dead-letters on the first requeue with -1', [3, 10], { 'x-delivery-limit': -1 }, 1],
    ['4.3 applies a limit of 2', [4, 3], { 'x-delivery-limit': 2 }, 3],
  ] as const)('%s', async (_what, version, args, requeues) => {
    expect(await requeuesUntilDead(version, args)).toBe(requeues);
  });

  it.each([
    ['3.10', [3, 10], { 'x-delivery-count': 1 }],
    ['4.0', [4, 0], { 'x-delivery-count': 1 }],
    ['4.3', [4, 3], { 'x-acquired-count': 1 }],
  ] as const)(
    '%s counts an unprocessed delivery in its headers',
    async (_name, version, headers) => {
      const test = new ServerUnderTest(version);
      test.declare('queue', { 'x-queue-type': 'quorum' });
      const consumer = test.consume('queue');
      test.send('queue', 'one');
      await test.turn();
      consumer.channel.settle(1, 'requeueUnprocessed');
      await test.turn();
      expect(consumer.headers).toEqual([{}, headers]);
    },
  );

  it.each([
    ['3.10', [3, 10], {}, ['2', '3', '1']],
    ['4.0', [4, 0], {}, ['1', '2', '3']],
    ['4.0 without a limit', [4, 0], { 'x-delivery-limit': -1 }, ['2', '3', '1']],
    ['4.3 without a limit', [4, 3], { 'x-delivery-limit': -1 }, ['1', '2', '3']],
  ] as const)(
    '%s requeues a message to its place in the order',
    async (_name, version, args, order) => {
      const test = new ServerUnderTest(version);
      test.declare('queue', { 'x-queue-type': 'quorum', ...args });
      for (const text of ['1', '2', '3']) test.send('queue', text);
      const consumer = test.consume('queue', { prefetch: 1 });
      await test.turn();
      consumer.channel.cancel();
      consumer.channel.settle(1, 'requeueFailed');
      expect(test.ready('queue')).toEqual(order);
    },
  );

  it.each([
    ['failed', 'requeueFailed', 400],
    ['failed', 'requeueUnprocessed', 0],
    ['returned', 'requeueUnprocessed', 400],
    ['all', 'requeueFailed', 400],
    ['disabled', 'requeueFailed', 0],
  ] as const)(
    'delay type %s: %s waits %i ms, longer each time it is counted, up to the maximum',
    async (type, action, first) => {
      const test = new ServerUnderTest();
      test.declare('queue', {
        'x-queue-type': 'quorum',
        'x-delayed-retry-type': type,
        'x-delayed-retry-min': 400,
        'x-delayed-retry-max': 900,
      });
      const consumer = test.consume('queue');
      test.send('queue', 'one');
      await test.turn();
      const delays = action === 'requeueFailed' ? [400, 800, 900] : [400, 400, 400];
      for (const delay of first === 0 ? [0] : delays) {
        const before = consumer.tags.length;
        consumer.channel.settle(consumer.lastTag, action);
        await test.pass(Math.max(0, delay - 1));
        expect(consumer.tags.length).toBe(delay > 0 ? before : before + 1);
        await test.pass(1);
        expect(consumer.tags.length).toBe(before + 1);
      }
    },
  );
});
