import { describe, expect, it } from 'vitest';
import { onScratchChannel } from '../../../lib/rabbitmq/topology';
import { FakeConnection } from './fakes';

describe('a channel for one question', () => {
  it('is closed, and gives the answer', async () => {
    const connection = new FakeConnection();
    const answer = await onScratchChannel(connection.asRaw, (channel) => channel.checkQueue('q'));
    expect(answer).toEqual({ queue: 'q' });
    expect(connection.channels.map(({ sent }) => sent)).toEqual([[['checkQueue', 'q'], ['close']]]);
  });

  it('gives the answer where its connection ends before the close is answered', async () => {
    const connection = new FakeConnection();
    connection.prepare = (channel) => {
      channel.answers.set('close', () => {
        setImmediate(() => channel.ends());
        return new Promise(() => undefined);
      });
    };
    await expect(onScratchChannel(connection.asRaw, async () => 'answer')).resolves.toBe('answer');
  });

  it('rejects with what was refused', async () => {
    const connection = new FakeConnection();
    const refusal = new Error('404');
    const failing = onScratchChannel(connection.asRaw, () => Promise.reject(refusal));
    await expect(failing).rejects.toBe(refusal);
  });
});
