import { afterAll, describe, expect, it } from 'vitest';
import { retryAfter, type SubscribeOptions } from '../../lib';
import { startApp } from '../support/app';
import { management, openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

const OVERFLOW = { 'x-overflow': 'reject-publish' };

/** Sets how long a quorum queue waits before it offers a refused dead letter again, 3 min by default. */
async function retryDeadLettersAfter(ms: number): Promise<void> {
  const name = 'dead_letter_worker_publisher_confirm_timeout';
  await management.ctl('eval', `application:set_env(rabbit, ${name}, ${ms}).`);
}

const DELAY = 500;

/** Waits until the TTL of everything that waits for a queue has ended; what has just been published is counted late. */
async function waitUntilNothingWaits(queue: string): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 2 * DELAY));
  await until(async () => {
    const waiting = (await management.queues()).filter(({ name }) => name.startsWith(`${queue}.w`));
    return waiting.length > 0 && waiting.every(({ messages_ready }) => messages_ready === 0);
  });
}

describe('a delayed message that returns to a full queue', async () => {
  const broker = await openBroker();
  await retryDeadLettersAfter(1_000);
  afterAll(() => retryDeadLettersAfter(180_000));

  it.each<[string, SubscribeOptions]>([
    ['a classic queue', { queueOptions: { maxLength: 1, arguments: OVERFLOW } }],
    [
      'a classic queue with a limit in bytes',
      { queueOptions: { arguments: { 'x-max-length-bytes': 9, ...OVERFLOW } } },
    ],
    [
      'a classic queue that would dead-letter, without a dead-letter exchange',
      { queueOptions: { maxLength: 1, arguments: { 'x-overflow': 'reject-publish-dlx' } } },
    ],
    [
      'a quorum queue',
      { queueType: 'quorum', queueOptions: { maxLength: 1, arguments: OVERFLOW } },
    ],
  ])('is kept until there is room: %s', { timeout: 30_000 }, async (_name, options) => {
    const queue = unique('full');
    const runs: string[] = [];
    const Handler = handlerOf({ queue, prefetch: 1, ...options }, (id: string, { attempt }) => {
      runs.push(`${id} ${attempt}`);
      return id === 'a' && attempt === 1 ? retryAfter(DELAY) : undefined;
    });
    const { registry, settled } = await startApp({ providers: [Handler] });
    await broker.send(queue, 'a');
    await settled(1);
    await registry.pause(Handler, 'handle');
    // A quorum queue may take some more than its limit.
    for (const id of ['fills', 'the', 'queue']) await broker.send(queue, id).catch(() => {});
    const filled = (await broker.ready(queue)) ?? 0;
    await waitUntilNothingWaits(queue);
    expect(await broker.ready(queue)).toBe(filled);
    await registry.resume(Handler, 'handle');
    await until(() => runs.includes('a 2'), { timeoutMs: 15_000 });
    expect(runs.filter((run) => run.startsWith('a'))).toEqual(['a 1', 'a 2']);
  });

  it('takes the dead-letter route of the queue with reject-publish-dlx, once', async () => {
    const queue = unique('route');
    await broker.declare(`${queue}.overflow`);
    const Handler = handlerOf(
      {
        queue,
        queueOptions: {
          maxLength: 1,
          deadLetterExchange: '',
          deadLetterRoutingKey: `${queue}.overflow`,
          arguments: { 'x-overflow': 'reject-publish-dlx' },
        },
      },
      () => retryAfter(300),
    );
    const { registry, settled } = await startApp({ providers: [Handler] });
    await broker.send(queue, 'a');
    await settled(1);
    await registry.pause(Handler, 'handle');
    await broker.send(queue, 'fills');
    await broker.waitForReady(`${queue}.overflow`, 1);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await broker.ready(`${queue}.overflow`)).toBe(1);
  });
});
