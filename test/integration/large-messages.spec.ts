import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { retryAfter } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { handlerOf } from '../support/handlers';

const MEGABYTE = 1024 * 1024;

describe('many large messages that are retried', async () => {
  const broker = await openBroker();

  it('are each handled twice, however full the socket buffer is', {
    timeout: 120_000,
  }, async () => {
    const queue = unique('large');
    const count = 200;
    const prefetch = 20;
    const runs = new Map<string, number[]>();
    let inFlight = 0;
    const Handler = handlerOf(
      {
        queue,
        prefetch,
        retry: { attempts: 2 },
        deadLetter: `${queue}.dead`,
        deserializer: (bytes: Buffer) => bytes,
      },
      (body: Buffer, { messageId = '', attempt }) => {
        expect(body).toHaveLength(MEGABYTE);
        runs.set(messageId, [...(runs.get(messageId) ?? []), attempt]);
        const status = app.registry.get(Handler, 'handle');
        inFlight = Math.max(inFlight, status.inFlight);
        return attempt === 1 ? retryAfter(1) : undefined;
      },
    );
    const app = await startApp({ providers: [Handler] });
    const body = randomBytes(MEGABYTE);
    for (let id = 0; id < count; id += 1) await broker.send(queue, body, { messageId: `${id}` });
    await app.settled(2 * count, 100_000);
    expect(runs.size).toBe(count);
    for (const [id, attempts] of runs) expect([id, attempts]).toEqual([id, [1, 2]]);
    // At most prefetch messages are being republished at a time: that limits the memory.
    expect(inFlight).toBeLessThanOrEqual(prefetch);
    expect(new Set(app.settlements.map(({ status }) => status))).toEqual(new Set(['sent']));
    await broker.waitForReady(queue, 0);
    expect(await broker.ready(`${queue}.dead`)).toBe(0);
  });
});
