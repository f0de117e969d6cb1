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
    consumer.channel.settle(consumer.lastTag, 'requeueFailed');
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

describe('priorities', () => {
  it.each([
    ['classic', [4, 3], { 'x-max-priority': 5 }, 'c d b a e'],
    ['classic without any', [4, 3], {}, 'a b c d e'],
    ['quorum 3.10', [3, 10], { 'x-queue-type': 'quorum' }, 'a b c d e'],
    ['quorum 4.0', [4, 0], { 'x-queue-type': 'quorum' }, 'c d a b e'],
    ['quorum 4.3', [4, 3], { 'x-queue-type': 'quorum' }, 'c d e b a'],
  ] as const)('%s', (_name, version, args, order) => {
    const test = new ServerUnderTest(version);
    test.declare('queue', args);
    for (const [text, priority] of Object.entries({ a: 0, b: 3, c: 9, d: 5 })) {
      test.send('queue', text, { priority });
    }
    test.send('queue', 'e');
    expect(test.ready('queue').join(' ')).toBe(order);
  });
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
    consumer.channel.settle(1, 'requeueFailed');
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
