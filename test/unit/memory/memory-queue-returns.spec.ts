import { describe, expect, it } from 'vitest';
import { ServerUnderTest } from './server';

const DEAD = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' };

describe('returns on a quorum queue', () => {
  async function returnsUntilDead(version: readonly [number, number], args = {}): Promise<number> {
    const test = new ServerUnderTest(version);
    test.declare('dead');
    test.declare('queue', { 'x-queue-type': 'quorum', ...DEAD, ...args });
    const consumer = test.consume('queue');
    test.send('queue', 'one');
    await test.turn();
    for (let returns = 1; returns <= 30; returns += 1) {
      consumer.channel.settle(consumer.lastTag, 'requeueFailed');
      await test.turn();
      if (test.ready('dead').length > 0) return returns;
    }
    return Number.POSITIVE_INFINITY;
  }

  it.each([
    ['3.10, no limit', [3, 10], {}, Number.POSITIVE_INFINITY],
    ['4.0, no limit: 20 by default', [4, 0], {}, 21],
    ['4.3, -1 takes it away', [4, 3], { 'x-delivery-limit': -1 }, Number.POSITIVE_INFINITY],
    ['3.10, -1 ends at the first return', [3, 10], { 'x-delivery-limit': -1 }, 1],
    ['4.3, a limit of 2', [4, 3], { 'x-delivery-limit': 2 }, 3],
  ] as const)('%s', async (_what, version, args, returns) => {
    expect(await returnsUntilDead(version, args)).toBe(returns);
  });

  it.each([
    ['3.10', [3, 10], { 'x-delivery-count': 1 }],
    ['4.0', [4, 0], { 'x-delivery-count': 1 }],
    ['4.3', [4, 3], { 'x-acquired-count': 1 }],
  ] as const)('%s: a release shows itself', async (_name, version, headers) => {
    const test = new ServerUnderTest(version);
    test.declare('queue', { 'x-queue-type': 'quorum' });
    const consumer = test.consume('queue');
    test.send('queue', 'one');
    await test.turn();
    consumer.channel.settle(1, 'requeueUnprocessed');
    await test.turn();
    expect(consumer.headers).toEqual([{}, headers]);
  });

  it.each([
    ['3.10', [3, 10], {}, ['2', '3', '1']],
    ['4.0', [4, 0], {}, ['1', '2', '3']],
    ['4.0 without a limit', [4, 0], { 'x-delivery-limit': -1 }, ['2', '3', '1']],
    ['4.3 without a limit', [4, 3], { 'x-delivery-limit': -1 }, ['1', '2', '3']],
  ] as const)('%s: stand where that server puts them', async (_name, version, args, order) => {
    const test = new ServerUnderTest(version);
    test.declare('queue', { 'x-queue-type': 'quorum', ...args });
    for (const text of ['1', '2', '3']) test.send('queue', text);
    const consumer = test.consume('queue', { prefetch: 1 });
    await test.turn();
    consumer.channel.cancel();
    consumer.channel.settle(1, 'requeueFailed');
    expect(test.ready('queue')).toEqual(order);
  });

  it.each([
    ['failed', 'requeueFailed', 400],
    ['failed', 'requeueUnprocessed', 0],
    ['returned', 'requeueUnprocessed', 400],
    ['all', 'requeueFailed', 400],
    ['disabled', 'requeueFailed', 0],
  ] as const)(
    'type %s delays a %s by %i ms, what is counted more each time, up to the most',
    async (type, frame, first) => {
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
      const delays = frame === 'requeueFailed' ? [400, 800, 900] : [400, 400, 400];
      for (const delay of first === 0 ? [0] : delays) {
        const before = consumer.tags.length;
        consumer.channel.settle(consumer.lastTag, frame);
        await test.pass(Math.max(0, delay - 1));
        expect(consumer.tags.length).toBe(delay > 0 ? before : before + 1);
        await test.pass(1);
        expect(consumer.tags.length).toBe(before + 1);
      }
    },
  );
});
