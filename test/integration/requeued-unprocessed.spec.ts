import { expect, it } from 'vitest';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { itOn } from '../support/versions';

const broker = await openBroker();

/**
 * Repeatedly closes an application while its handler runs, which never ends in time, and starts it again.
 * Returns the attempts that the handler has seen.
 */
async function attemptsOverStops(stops: number): Promise<number[]> {
  const queue = unique('released');
  const attempts: number[] = [];
  const Handler = handlerOf(
    { queue, queueType: 'quorum', retry: { attempts: 10 } },
    (_payload, { attempt }) => {
      attempts.push(attempt);
      return attempts.length > stops ? undefined : new Promise(() => undefined);
    },
  );
  await broker.declare(queue, { arguments: { 'x-queue-type': 'quorum' } });
  await broker.send(queue, 'often requeued');
  for (let start = 1; start <= stops + 1; start += 1) {
    const { close } = await startApp({
      providers: [Handler],
      settle: { shutdownTimeout: 100, abortGracePeriod: 50 },
    });
    await until(() => attempts.length === start);
    await close();
  }
  expect(await broker.ready(queue)).toBe(0);
  return attempts;
}

itOn({ from: '4.3', because: 'the server distinguishes unprocessed from failed messages' })(
  'a message requeued unprocessed at shutdown costs no attempt',
  async () => {
    expect(await attemptsOverStops(3)).toEqual([1, 1, 1, 1]);
  },
);

itOn({ before: '4.3', because: 'the server counts each requeue' })(
  'a message requeued unprocessed at shutdown costs an attempt',
  async () => {
    expect(await attemptsOverStops(3)).toEqual([1, 2, 3, 4]);
  },
);

it('on a classic queue a message requeued unprocessed costs no attempt', async () => {
  const queue = unique('requeued-classic');
  const attempts: number[] = [];
  const Handler = handlerOf({ queue, retry: { attempts: 10 } }, (_payload, { attempt }) => {
    attempts.push(attempt);
    return attempts.length > 1 ? undefined : new Promise(() => undefined);
  });
  await broker.declare(queue);
  await broker.send(queue, 'released');
  for (let start = 1; start <= 2; start += 1) {
    const { close } = await startApp({
      providers: [Handler],
      settle: { shutdownTimeout: 100, abortGracePeriod: 50 },
    });
    await until(() => attempts.length === start);
    await close();
  }
  expect(attempts).toEqual([1, 1]);
});
