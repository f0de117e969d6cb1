import { describe, expect, it } from 'vitest';
import { ServerUnderTest } from './server';

async function withOne(options: { noAck?: boolean } = {}) {
  const test = new ServerUnderTest();
  test.declare('queue');
  const consumer = test.consume('queue', options);
  test.send('queue', 'one');
  await test.turn();
  return { test, consumer, channel: consumer.channel };
}

describe('MemoryChannel', () => {
  it.each(['ack', 'reject', 'requeueFailed', 'requeueUnprocessed'] as const)(
    'settles with %s once',
    async (action) => {
      const { test, channel } = await withOne();
      channel.cancel();
      expect(channel.settle(1, action)).toBe(true);
      for (const again of ['ack', 'reject', 'requeueFailed', 'requeueUnprocessed'] as const) {
        expect(() => channel.settle(1, again)).toThrow('settled twice');
      }
      expect(() => channel.leave(1)).toThrow('settled twice');
      expect(test.server.queue('queue').unacknowledged).toBe(0);
    },
  );

  it('throws for an unknown delivery tag', async () => {
    const { channel } = await withOne();
    expect(() => channel.settle(2, 'ack')).toThrow('settled twice');
    expect(() => channel.leave(0)).toThrow('settled twice');
  });

  it('throws for a delivery left unsettled, and requeues it when it closes', async () => {
    const { test, channel } = await withOne();
    channel.leave(1);
    expect(() => channel.settle(1, 'ack')).toThrow('settled twice');
    expect(() => channel.leave(1)).toThrow('settled twice');
    channel.close();
    expect(test.ready('queue')).toEqual(['one']);
  });

  it('throws for a noAck delivery', async () => {
    const { channel } = await withOne({ noAck: true });
    expect(() => channel.settle(1, 'ack')).toThrow('settled twice');
  });

  it('returns false without throwing once it is closed', async () => {
    const { test, consumer, channel } = await withOne();
    channel.close(new Error('cut'));
    expect(channel.lost.aborted).toBe(true);
    expect(channel.settle(1, 'ack')).toBe(false);
    expect(() => channel.leave(1)).not.toThrow();
    channel.close();
    expect(consumer.ends).toEqual(['cut']);
    expect(test.ready('queue')).toEqual(['one']);
    expect(test.server.queue('queue')).toMatchObject({ unacknowledged: 0, consumerCount: 0 });
  });
});

describe('consumers of one queue', () => {
  it('take turns within their prefetch', async () => {
    const test = new ServerUnderTest();
    test.declare('queue');
    const [one, two] = [test.consume('queue', { prefetch: 1 }), test.consume('queue')];
    for (const text of ['1', '2', '3', '4']) test.send('queue', text);
    await test.turn();
    expect([one.texts, two.texts]).toEqual([['1'], ['2', '3', '4']]);
    expect(test.server.queue('queue')).toMatchObject({ unacknowledged: 4, consumerCount: 2 });
  });

  it('of a deleted queue are refused', async () => {
    const { test, channel } = await withOne();
    channel.cancel();
    test.server.deleteQueue('queue');
    expect(() => channel.consume()).toThrow(
      "404 (NOT-FOUND) with message \"NOT_FOUND - no queue 'queue'",
    );
  });
});
