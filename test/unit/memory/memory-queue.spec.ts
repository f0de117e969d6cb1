import { describe, expect, it } from 'vitest';
import { ServerUnderTest } from './server';

const DEAD = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' };

describe('expiration', () => {
  it.each(['classic', 'quorum'])(
    '%s: delivers a message with a TTL of 0 to a waiting consumer',
    async (type) => {
      const test = new ServerUnderTest();
      test.declare('queue', { 'x-queue-type': type });
      const consumer = test.consume('queue');
      test.send('queue', 'one', { expiration: '0' });
      await test.turn();
      expect(consumer.texts).toEqual(['one']);
    },
  );

  it('drops a message with a TTL of 0 without a consumer', async () => {
    const test = new ServerUnderTest();
    test.declare('queue');
    test.send('queue', 'one', { expiration: '0' });
    await test.turn();
    expect(test.ready('queue')).toEqual([]);
  });

  it('uses the shorter TTL of queue and message', async () => {
    const test = new ServerUnderTest();
    test.declare('queue', { 'x-message-ttl': 100 });
    test.send('queue', 'long', { expiration: '500' });
    test.send('queue', 'short', { expiration: '50' });
    await test.pass(99);
    expect(test.ready('queue')).toEqual(['long', 'short']);
    await test.pass(1);
    expect(test.ready('queue')).toEqual([]);
  });

  it('never delivers a message that expired behind the head', async () => {
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

  it('does not restart for a requeued message', async () => {
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

  it('deletes an unused queue with its messages, and a consumer counts as use', async () => {
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
  ])('%s: a declaration renews x-expires: %s', async (type, isRenewed) => {
    const test = new ServerUnderTest();
    test.declare('queue', { 'x-queue-type': type, 'x-expires': 100 });
    await test.pass(60);
    test.declare('queue', { 'x-queue-type': type, 'x-expires': 100 });
    await test.pass(60);
    expect(test.server.hasQueue('queue')).toBe(isRenewed);
  });
});

describe('priorities', () => {
  it.each([
    ['classic', [4, 3], { 'x-max-priority': 5 }, 'c d b a e'],
    ['classic without x-max-priority', [4, 3], {}, 'a b c d e'],
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

describe('a full queue', () => {
  it('refuses new messages, and dead-letters them with reject-publish-dlx', () => {
    const test = new ServerUnderTest();
    test.declare('dead');
    test.declare('plain', { 'x-max-length': 1, 'x-overflow': 'reject-publish', ...DEAD });
    expect([test.send('plain', '1'), test.send('plain', '2')]).toEqual([true, false]);
    expect(test.ready('dead')).toEqual([]);
    test.declare('forwarding', { 'x-max-length': 1, 'x-overflow': 'reject-publish-dlx', ...DEAD });
    expect([test.send('forwarding', '1'), test.send('forwarding', '2')]).toEqual([true, false]);
    expect(test.ready('dead')).toEqual(['2']);
  });

  it('drops its head for a requeued message, too', async () => {
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

describe('dead letters without a target', () => {
  it('are lost, or kept and retried with the at-least-once strategy', async () => {
    const test = new ServerUnderTest();
    const lossless = { 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' };
    test.declare('lossy', { 'x-queue-type': 'quorum', 'x-message-ttl': 10, ...DEAD });
    test.declare('lossless', {
      'x-queue-type': 'quorum',
      'x-message-ttl': 10,
      ...DEAD,
      ...lossless,
    });
    test.send('lossy', 'lost');
    test.send('lossless', 'kept');
    await test.pass(100);
    test.declare('dead');
    await test.pass(180_000);
    expect(test.ready('dead')).toEqual(['kept']);
  });

  it('do not come from a deleted queue', async () => {
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
