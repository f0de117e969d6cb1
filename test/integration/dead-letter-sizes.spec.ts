import { describe, expect, it } from 'vitest';
import { DeadLetters } from '../../lib/dead-letters';
import { openBroker, unique, url } from '../support/broker';
import { limitMessageSize } from '../support/message-size';

const LIMIT = 200_000;

describe('a replay of messages over the max_message_size of the server', async () => {
  const broker = await openBroker();

  /** A queue of dead letters with these sizes, with message ids from 1 on. */
  async function deadLettersOf(type: string, sizes: readonly number[]) {
    const [queue, dead] = [unique('target'), unique('dead')];
    for (const name of [queue, dead]) {
      await broker.declare(name, { arguments: { 'x-queue-type': type } });
    }
    const headers = { 'x-settle-reason': 'error', 'x-settle-queue': queue };
    const bodies = new Map(sizes.map((size) => [size, Buffer.alloc(size, 'x')]));
    await Promise.all(
      sizes.map((size, index) =>
        broker.send(dead, bodies.get(size), { messageId: String(index + 1), headers }),
      ),
    );
    await broker.waitForReady(dead, sizes.length);
    return { queue, dead };
  }

  const small = (count: number): number[] => Array.from({ length: count }, () => 100);

  it('keeps and names each of them, and goes on with the rest', { timeout: 60_000 }, async () => {
    const queues: { queue: string; dead: string; size: number; mixed: string }[] = [];
    for (const type of ['classic', 'quorum']) {
      for (const size of [300_000, 1_200_000]) {
        const pair = await deadLettersOf(type, [...small(20), size, ...small(400)]);
        const sizes = Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? 100 : size + at));
        const { dead: mixed } = await deadLettersOf(type, sizes);
        queues.push({ ...pair, size, mixed });
      }
    }
    await limitMessageSize(LIMIT);
    const deadLetters = await DeadLetters.connect(url);
    for (const { queue, dead, size, mixed } of queues) {
      const [large] = (await deadLetters.list(dead, { where: { messageId: '21' } })).letters;
      expect(large?.size).toBe(size);
      const { failures, ...result } = await deadLetters.replay(dead);
      expect(result).toMatchObject({ replayed: 420, failed: 1, ended: 'complete', duplicated: 0 });
      const refused = `message size \\d+ is larger than .*${LIMIT}`;
      const text = `^queue "${queue}": .*406 \\(PRECONDITION-FAILED\\).*${refused}`;
      expect(failures).toEqual([
        {
          cause: 'message-refused',
          ...{ target: queue, count: 1 },
          letters: [{ id: large?.id, messageId: '21' }],
          text: expect.stringMatching(text),
        },
      ]);
      const left = await deadLetters.list(dead);
      expect(left.letters).toMatchObject([{ id: large?.id }]);
      // The channel of the small ones may have closed before they were confirmed: then they are published again.
      expect(await broker.ready(queue)).toBeGreaterThanOrEqual(420);

      const many = await deadLetters.replay(mixed);
      expect(many).toMatchObject({ replayed: 25, failed: 25, ended: 'complete' });
      expect(many.failures).toMatchObject([{ cause: 'message-refused', count: 25 }]);
      expect(many.failures[0]?.letters).toHaveLength(20);
      await broker.waitForReady(mixed, 25);
    }
    await deadLetters.close();
  });
});
