import { describe, expect, it } from 'vitest';
import { ServerUnderTest } from './server';

const DEAD = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' };

describe('expiry', () => {
  it.each(['classic', 'quorum'])(
    '%s: hands a message without any time to live to whoever is there',
    async (type) => {
      const test = new ServerUnderTest();
      test.declare('queue', { 'x-queue-type': type });
      const consumer = test.consume('queue');
      test.send('queue', 'one', { expiration: '0' });
      await test.turn();
      expect(consumer.texts).toEqual(['one']);
    },
  );

  it('drops a message without any time to live where nobody is there', async () => {
    const test = new ServerUnderTest();
    test.declare('queue');
    test.send('queue', 'one', { expiration: '0' });
    await test.turn();
    expect(test.ready('queue')).toEqual([]);
  });

  it('takes the shorter of the two times', async () => {
    const test = new ServerUnderTest();
    test.declare('queue', { 'x-message-ttl': 100 });
    test.send('queue', 'long', { expiration: '500' });
    test.send('queue', 'short', { expiration: '50' });
    await test.pass(99);
    expect(test.ready('queue')).toEqual(['long', 'short']);
    await test.pass(1);
    expect(test.ready('queue')).toEqual([]);
  });

  it('never hands out what has expired behind the head', async () => {
    const test = new ServerUnderTest();
    test.declare('queue');
    test.send('queue', 'long');
    test.send('queue', 'short', { expiration: '50' });
    await test.pass(100);
    expect(test.ready('queue')).toEqual(['long', 'short']);
    const consumer = test.consume('queue');
    await test.turn();
    expect(consumer.texts).toEqual(['long']);
  });

  it('does not begin anew for a message that comes back', async () => {
    const test = new ServerUnderTest();
    test.declare('queue');
    const consumer = test.consume('queue');
    test.send('queue', 'one', { expiration: '100' });
    await test.pass(60);
    consumer.channel.cancel();
    consumer.channel.settle(consumer.lastTag, 'requeue');
    await test.pass(39);
    expect(test.ready('queue')).toEqual(['one']);
    await test.pass(1);
    expect(test.ready('queue')).toEqual([]);
  });

  it('ends a queue that nobody uses, with what it holds; a consumer is a use', async () => {
    const test = new ServerUnderTest();
    test.declare('queue', { 'x-expires': 100 });
    test.send('queue', 'one');
    await test.pass(60);
    const consumer = test.consume('queue');
    await test.pass(500);
    consumer.channel.cancel();
    await test.pass(99);
    expect(test.server.hasQueue('queue')).toBe(true);
    await test.pass(1);
    expect(test.server.hasQueue('queue')).toBe(false);
  });

  it.each([
    ['classic', true],
    ['quorum', false],
  ])('%s: a declaration puts the end of the queue off: %s', async (type, isPutOff) => {
    const test = new ServerUnderTest();
    test.declare('queue', { 'x-queue-type': type, 'x-expires': 100 });
    await test.pass(60);
    test.declare('queue', { 'x-queue-type': type, 'x-expires': 100 });
    await test.pass(60);
    expect(test.server.hasQueue('queue')).toBe(isPutOff);
  });
});

describe('returns on a quorum queue', () => {
  async function returnsUntilDead(version: readonly [number, number], args = {}): Promise<number> {
    const test = new ServerUnderTest(version);
    test.declare('dead');
    test.declare('queue', { 'x-queue-type': 'quorum', ...DEAD, ...args });
    const consumer = test.consume('queue');
    test.send('queue', 'one');
    await test.turn();
    for (let returns = 1; returns <= 30; returns += 1) {
      consumer.channel.settle(consumer.lastTag, 'requeue');
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
    consumer.channel.settle(1, 'release');
    await test.turn();
    expect(consumer.headers).toEqual([{}, headers]);
  });

  it('stand behind the rest where there is no limit', async () => {
    const test = new ServerUnderTest([3, 10]);
    test.declare('queue', { 'x-queue-type': 'quorum' });
    for (const text of ['1', '2', '3']) test.send('queue', text);
    const consumer = test.consume('queue', { prefetch: 1 });
    await test.turn();
    consumer.channel.cancel();
    consumer.channel.settle(1, 'requeue');
    expect(test.ready('queue')).toEqual(['2', '3', '1']);
  });

  it.each([
    ['failed', 'requeue', 400],
    ['failed', 'release', 0],
    ['returned', 'release', 400],
    ['all', 'requeue', 400],
    ['disabled', 'requeue', 0],
  ] as const)(
    'type %s delays a %s by %i ms, more each time, and no more than the most',
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
      const delays = frame === 'requeue' ? [400, 800, 900] : [0, 0, 0];
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

describe('a queue that is full', () => {
  it('refuses what is published, by its dead-letter route where it is to', () => {
    const test = new ServerUnderTest();
    test.declare('dead');
    test.declare('plain', { 'x-max-length': 1, 'x-overflow': 'reject-publish', ...DEAD });
    expect([test.send('plain', '1'), test.send('plain', '2')]).toEqual([true, false]);
    expect(test.ready('dead')).toEqual([]);
    test.declare('buried', { 'x-max-length': 1, 'x-overflow': 'reject-publish-dlx', ...DEAD });
    expect([test.send('buried', '1'), test.send('buried', '2')]).toEqual([true, false]);
    expect(test.ready('dead')).toEqual(['2']);
  });

  it('drops its head for what comes back, too', async () => {
    const test = new ServerUnderTest();
    test.declare('queue', { 'x-max-length': 1 });
    const consumer = test.consume('queue', { prefetch: 1 });
    test.send('queue', '1');
    await test.turn();
    consumer.channel.cancel();
    test.send('queue', '2');
    consumer.channel.settle(1, 'requeue');
    expect(test.ready('queue')).toEqual(['2']);
  });
});

describe('dead letters that nobody takes', () => {
  it('are gone, but kept where the strategy says so, and tried again', async () => {
    const test = new ServerUnderTest();
    const lossless = { 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' };
    test.declare('lossy', { 'x-queue-type': 'quorum', 'x-message-ttl': 10, ...DEAD });
    test.declare('lossless', {
      'x-queue-type': 'quorum',
      'x-message-ttl': 10,
      ...DEAD,
      ...lossless,
    });
    test.send('lossy', 'gone');
    test.send('lossless', 'kept');
    await test.pass(100);
    test.declare('dead');
    await test.pass(180_000);
    expect(test.ready('dead')).toEqual(['kept']);
  });

  it('of a deleted queue are none', async () => {
    const test = new ServerUnderTest();
    test.declare('dead');
    test.declare('queue', { 'x-queue-type': 'quorum', 'x-delivery-limit': 0, ...DEAD });
    const consumer = test.consume('queue');
    test.send('queue', 'one');
    await test.turn();
    test.server.deleteQueue('queue');
    expect(consumer.ends).toHaveLength(1);
    expect(test.ready('dead')).toEqual([]);
    expect(test.clock.nextAt).toBeUndefined();
  });
});
