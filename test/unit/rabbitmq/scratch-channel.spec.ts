import { describe, expect, it } from 'vitest';
import { onScratchChannel, topologyClientOf } from '../../../lib/rabbitmq/scratch-channel';
import { FakeConnection } from './fakes';

describe('onScratchChannel', () => {
  it('closes the channel and resolves with the result', async () => {
    const connection = new FakeConnection();
    const answer = await onScratchChannel(connection.asRaw, (channel) => channel.checkQueue('q'));
    expect(answer).toEqual({ queue: 'q' });
    expect(connection.channels.map(({ sent }) => sent)).toEqual([[['checkQueue', 'q'], ['close']]]);
  });

  it('resolves if the connection ends before the close is confirmed', async () => {
    const connection = new FakeConnection();
    connection.prepare = (channel) => {
      channel.answers.set('close', () => {
        setImmediate(() => channel.ends());
        return new Promise(() => undefined);
      });
    };
    await expect(onScratchChannel(connection.asRaw, async () => 'answer')).resolves.toBe('answer');
  });

  it('rejects with the error of the broker', async () => {
    const connection = new FakeConnection();
    const refusal = new Error('404');
    const failing = onScratchChannel(connection.asRaw, () => Promise.reject(refusal));
    await expect(failing).rejects.toBe(refusal);
  });
});

describe('topologyClientOf', () => {
  it('uses a channel of its own for each call, and names the version', async () => {
    const connection = new FakeConnection();
    const client = topologyClientOf(connection.asRaw);
    expect(client.version).toEqual([3, 10]);
    expect(await client.assertQueue('q', { durable: true, arguments: {} })).toBe('q');
    await client.checkQueue('q');
    expect(connection.channels.map(({ sent }) => sent)).toEqual([
      [['assertQueue', 'q', { durable: true, arguments: {} }], ['close']],
      [['checkQueue', 'q'], ['close']],
    ]);
  });
});
