import { expect, it } from 'vitest';
import { retry } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { waitForEmpty } from '../support/forced';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';
import { itOn, serverIs } from '../support/versions';

const broker = await openBroker();
const hasDefaultLimit = serverIs({ from: '4.0' });

/** Starts a subscription that always retries; returns the attempts that its handler sees. */
async function retrying(queue: string, options: Partial<AcknowledgedOptions>) {
  const attempts: number[] = [];
  const Handler = handlerOf(
    { queue, queueType: 'quorum', deadLetter: `${queue}.dead`, ...options },
    (_payload, { attempt }) => {
      attempts.push(attempt);
      return retry();
    },
  );
  const { log } = await startApp({ providers: [Handler] });
  return { attempts, log };
}

it('more attempts than the default limit of the server are exact on a queue declared by the subscription', async () => {
  const queue = unique('many');
  const { attempts, log } = await retrying(queue, { retry: { attempts: 25 } });
  await broker.send(queue, 'poison');
  const { properties } = await broker.take(`${queue}.dead`, 20_000);
  expect(attempts).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
  expect(properties.headers).toMatchObject({
    'x-settle-reason': 'attempts',
    'x-settle-attempts-made': 25,
  });
  expect(log.matching(/limit/, ['warn'])).toEqual([]);
});

itOn({ from: '4.0', because: 'earlier ones have no default limit' })(
  'a queue that exists with another limit is used as it is, with a warning',
  async () => {
    const queue = unique('there');
    await broker.declare(queue, { arguments: { 'x-queue-type': 'quorum' } });
    const { attempts, log } = await retrying(queue, { retry: { attempts: 25 } });
    expect(
      log.matching(
        /exists with another x-delivery-limit; expected one above retry\.attempts \(25\)/,
        ['warn'],
      ),
    ).toHaveLength(1);
    await broker.send(queue, 'poison');
    await broker.send(`${queue}.dead`, 'mark');
    // The broker deletes the message at its own limit: the dead-letter queue stays empty.
    await expect.poll(() => attempts.length, { timeout: 15_000 }).toBe(21);
    await waitForEmpty(queue);
    expect(attempts).toHaveLength(21);
    expect(await broker.ready(`${queue}.dead`)).toBe(1);
  },
);

it('the limit of a queue declared elsewhere is mentioned in one line', async () => {
  const queue = unique('others');
  await broker.declare(queue, { arguments: { 'x-queue-type': 'quorum' } });
  const { log } = await retrying(queue, {
    retry: { attempts: 25 },
    declare: { queue: false },
  });
  const line =
    /^Handler\.handle \[(unknown-)?delivery-limit\] queue .* is declared elsewhere .*; expected at least 24/;
  expect(log.matching(line, [hasDefaultLimit ? 'warn' : 'log'])).toHaveLength(1);
});

it('a limit of the subscription below its attempts is reported in one line, and applies', async () => {
  const queue = unique('low');
  const { attempts, log } = await retrying(queue, {
    retry: { attempts: 5 },
    queueOptions: { arguments: { 'x-delivery-limit': 2 } },
  });
  expect(
    log.matching(/x-delivery-limit: expected at least 4 for retry\.attempts 5; found 2/, ['warn']),
  ).toHaveLength(1);
  await broker.send(queue, 'poison');
  await expect.poll(() => attempts.length).toBe(3);
  await waitForEmpty(queue);
  expect(attempts).toEqual([1, 2, 3]);
});

/** Delivers the messages of a queue and closes the channel, as often as given. */
async function crash(queue: string, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await broker.channel(async (channel) => {
      await expect.poll(() => channel.get(queue)).toBeTruthy();
    });
  }
}

it('a message outlives more crashes than the default limit of the server without retry', async () => {
  const queue = unique('crashes');
  const Handler = handlerOf({ queue, queueType: 'quorum' }, () => undefined);
  const app = await startApp({ providers: [Handler] });
  await app.close();
  await broker.send(queue, 'innocent');
  await crash(queue, 25);
  await broker.waitForReady(queue, 1);
});

it('a dead letter outlives more looks than the default limit of the server', async () => {
  const queue = unique('looks');
  const Handler = handlerOf({ queue, queueType: 'quorum', deadLetter: `${queue}.dead` }, () => {
    throw new Error('always');
  });
  await startApp({ providers: [Handler] });
  await broker.send(queue, 'dead');
  await broker.waitForReady(`${queue}.dead`, 1);
  await crash(`${queue}.dead`, 25);
  await broker.waitForReady(`${queue}.dead`, 1);
});

it('a subscription consumes the dead-letter queue of another, whichever declares it', async () => {
  const queue = unique('buried');
  const seen: unknown[] = [];
  const Failing = handlerOf({ queue, queueType: 'quorum', deadLetter: `${queue}.dead` }, () => {
    throw new Error('always');
  });
  const Reading = handlerOf({ queue: `${queue}.dead`, queueType: 'quorum' }, (payload) => {
    seen.push(payload);
  });
  for (const providers of [
    [Failing, Reading],
    [Reading, Failing],
  ]) {
    const app = await startApp({ providers });
    await broker.send(queue, 'dead');
    await expect.poll(() => seen.splice(0)).toEqual(['dead']);
    await app.close();
    await broker.delete(`${queue}.dead`);
  }
});
