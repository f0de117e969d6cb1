import { describe, expect, it } from 'vitest';
import { type Delivery, on, pauseFor, type QueueType } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

class BankDown extends Error {
  override readonly name = 'BankDown';
}

const QUEUE_TYPES: readonly QueueType[] = ['classic', 'quorum'];

describe.each(QUEUE_TYPES)('pauseFor() on a %s queue', async (queueType) => {
  const broker = await openBroker();

  it('as a policy pauses the subscription and costs no attempt, however often', async () => {
    const [queue, dead] = [unique('pause-for'), unique('dead')];
    const seen: string[] = [];
    let isDown = true;
    const Handler = handlerOf(
      {
        queue,
        queueType,
        prefetch: 1,
        retry: { attempts: 2 },
        deadLetter: dead,
        onError: [on(BankDown, pauseFor('100ms')), 'drop'],
      },
      (payload: number, delivery: Delivery) => {
        seen.push(`${payload}: attempt ${delivery.attempt}`);
        if (isDown) throw new BankDown('closed');
      },
    );
    const { registry, settlements, log } = await startApp({ providers: [Handler] });
    const status = () => registry.get(Handler, 'handle');
    for (const payload of [1, 2, 3]) await broker.send(queue, payload);
    await until(() => status().cause === 'pauseFor');
    expect(status().state).toBe('paused');
    await until(() => seen.length === 5);
    isDown = false;
    await until(() => settlements.filter(({ outcome }) => outcome.kind === 'ack').length === 3);
    expect(seen.every((line) => line.endsWith('attempt 1'))).toBe(true);
    expect(await broker.ready(dead)).toBe(0);
    expect(settlements.length).toBeLessThanOrEqual(9);
    expect(log.matching(/\[paused\].*paused for 100ms by pauseFor\(\)/, ['log'])).not.toEqual([]);
    expect(log.matching(/\[requeued\].*BankDown: closed/, ['log'])).not.toEqual([]);
    await until(() => status().state === 'consuming');
  });

  it('begins the age of the message: retry.maxAge counts the pause', async () => {
    const [queue, dead] = [unique('pause-for'), unique('dead')];
    const times: number[] = [];
    const attempts: number[] = [];
    const retry = { attempts: 5, maxAge: 300 };
    const Handler = handlerOf(
      { queue, queueType, retry, deadLetter: dead, onError: 'retry' },
      (_payload, { attempt }) => {
        times.push(Date.now());
        attempts.push(attempt);
        if (times.length <= 3) return pauseFor('150ms');
        throw new BankDown('closed');
      },
    );
    await startApp({ providers: [Handler] });
    await broker.send(queue, 1);
    const { properties } = await broker.take(dead);
    expect(attempts).toEqual([1, 1, 1, 1]);
    expect(properties.headers).toMatchObject({ 'x-settle-reason': 'max-age' });
    const first = Date.parse(String(properties.headers?.['x-settle-first-failed-at']));
    const [began = 0, again = 0] = times;
    expect(first).toBeGreaterThanOrEqual(began);
    expect(first).toBeLessThan(again);
  });

  it('as an outcome of the handler runs its callbacks, and ends with resume()', async () => {
    const queue = unique('pause-for');
    let handled = 0;
    let after = 0;
    const Handler = handlerOf({ queue, queueType }, () => {
      handled += 1;
      if (handled > 1) return undefined;
      return pauseFor('1h').andAfter(() => {
        after += 1;
      });
    });
    const { registry } = await startApp({ providers: [Handler] });
    await broker.send(queue, 1);
    await until(() => after === 1);
    await broker.waitForReady(queue, 1);
    await until(async () => (await broker.consumers(queue)) === 0);
    await registry.resume(Handler, 'handle');
    await until(() => handled === 2);
  });

  it('does not end the pause of an operator', async () => {
    const queue = unique('pause-for');
    let handled = 0;
    const Handler = handlerOf({ queue, queueType }, () => {
      handled += 1;
      return handled === 1 ? pauseFor('150ms') : undefined;
    });
    const { registry, log } = await startApp({ providers: [Handler] });
    await broker.send(queue, 1);
    await until(() => registry.get(Handler, 'handle').cause === 'pauseFor');
    await registry.pause(Handler, 'handle');
    await until(() => log.matching(/\[resumed\]/).length === 1);
    expect(registry.get(Handler, 'handle').cause).toBe('operator');
    // A quorum queue counts its consumers a moment later. One that consumes would handle the message.
    await until(async () => (await broker.consumers(queue)) === 0);
    await broker.waitForReady(queue, 1);
    expect(handled).toBe(1);
    await registry.resume(Handler, 'handle');
    await until(() => handled === 2);
  });
});

describe('pauseFor() on a queue that RabbitMQ deletes without its consumer', async () => {
  const broker = await openBroker();

  it.each([
    ['an auto-delete queue', { autoDelete: true }],
    ['a queue with x-expires', { expires: 300 }],
  ] as const)('keeps %s with its messages, and costs no attempt', async (_what, queueOptions) => {
    const queue = unique('pause-for');
    const seen: string[] = [];
    const Handler = handlerOf(
      { queue, queueOptions, prefetch: 2, retry: { attempts: 2 } },
      (payload: number, { attempt }: Delivery) => {
        seen.push(`${payload}.${attempt}`);
        return seen.length === 1 ? pauseFor('600ms') : undefined;
      },
    );
    const { registry, settlements } = await startApp({ providers: [Handler] });
    await broker.send(queue, 1);
    await until(() => registry.get(Handler, 'handle').cause === 'pauseFor');
    await broker.send(queue, 2);
    await until(() => settlements.filter(({ outcome }) => outcome.kind === 'ack').length === 2);
    expect(seen[0]).toBe('1.1');
    expect(seen.slice(1).sort()).toEqual(['1.1', '2.1']);
    await until(() => registry.get(Handler, 'handle').state === 'consuming');
  });
});

describe('pauseFor() as onInvalidPayload', () => {
  it('is refused: the message would never end', async () => {
    const Handler = handlerOf(
      { queue: unique('refused'), retry: { attempts: 2 }, onInvalidPayload: pauseFor('1s') },
      () => undefined,
    );
    await expect(startApp({ providers: [Handler] })).rejects.toThrow(/onInvalidPayload: expected/);
  });
});
