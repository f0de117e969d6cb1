import { afterEach, expect, it } from 'vitest';
import { drop, linear, type Outcome, retry, retryAfter } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { connectionNamed, killConnections, managed } from '../support/forced';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';
import { describeOn } from '../support/versions';

const FIRST = 400;
const LONGEST = 900;

/** A subscription whose retries are delayed by the broker: 400, 800, 900, 900 ms, ... */
function delayedByBroker(queue: string, attempts: number): AcknowledgedOptions {
  return {
    queue,
    queueType: 'quorum',
    retry: { attempts, backoff: linear(FIRST, { max: LONGEST }), by: 'broker' },
    deadLetter: `${queue}.dead`,
  };
}

describeOn({ from: '4.3', because: 'earlier ones do not delay' })(
  'delayed retries by the broker',
  async () => {
    const broker = await openBroker();
    let queue: string;
    /** The start and the attempt of each run. */
    let runs: { readonly at: number; readonly attempt: number }[] = [];
    afterEach(() => {
      runs = [];
    });

    /** The ms between consecutive runs. */
    const gaps = (): number[] =>
      runs.slice(1).map(({ at }, index) => at - (runs[index]?.at ?? Number.NaN));

    function recorded(
      options: AcknowledgedOptions,
      body: (attempt: number, signal: AbortSignal) => Outcome | Promise<void> | undefined,
    ) {
      return handlerOf(options, (_payload, { attempt, signal }) => {
        runs.push({ at: performance.now(), attempt });
        return body(attempt, signal);
      });
    }

    async function queueNames(): Promise<string[]> {
      return (await managed().queues())
        .map(({ name }) => name)
        .filter((name) => name.startsWith(queue))
        .sort();
    }

    it('are linear up to the maximum, end at exactly retry.attempts, and republish nothing', async () => {
      queue = unique('linear');
      const Handler = recorded(delayedByBroker(queue, 5), () => retryAfter());
      const { settlements, settled } = await startApp({ providers: [Handler] });
      await broker.send(queue, 'poison', { messageId: 'p' });
      await settled(5);
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
      const wanted = [FIRST, 2 * FIRST, LONGEST, LONGEST];
      gaps().forEach((gap, index) => {
        expect(gap).toBeGreaterThanOrEqual((wanted[index] ?? 0) - 2);
        expect(gap).toBeLessThan((wanted[index] ?? 0) + 1_500);
      });
      expect(settlements.map(({ decision }) => decision.kind)).toEqual([
        ...Array<string>(4).fill('requeue'),
        'deadLetter',
      ]);
      expect(await queueNames()).toEqual([queue, `${queue}.dead`]);
      const { properties } = await broker.take(`${queue}.dead`);
      expect(properties).toMatchObject({
        messageId: 'p',
        headers: { 'x-settle-reason': 'attempts', 'x-settle-attempts-made': 5 },
      });
    });

    it('apply to errors under the policy retryAfter', async () => {
      queue = unique('policy');
      const options = { ...delayedByBroker(queue, 3), onError: 'retryAfter' as const };
      const Handler = recorded(options, () => {
        throw new Error('no answer');
      });
      const { settled } = await startApp({ providers: [Handler] });
      await broker.send(queue, 'poison');
      await settled(3);
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
      expect(gaps()[0]).toBeGreaterThanOrEqual(FIRST - 2);
      expect(gaps()[1]).toBeGreaterThanOrEqual(2 * FIRST - 2);
      const { properties } = await broker.take(`${queue}.dead`);
      expect(properties.headers).toMatchObject({
        'x-settle-reason': 'attempts',
        'x-settle-error-message': 'no answer',
      });
    });

    it('combine with retry() and with delays of a handler, and are kept after a republished message', async () => {
      queue = unique('mixed');
      const outcomes = [retryAfter(), retry(), retryAfter(), retryAfter(300), retryAfter(), drop()];
      const Handler = recorded(delayedByBroker(queue, 9), (attempt) => outcomes[attempt - 1]);
      const { settlements, settled } = await startApp({ providers: [Handler] });
      await broker.send(queue, 'mixed');
      await settled(6);
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6]);
      // A republished message may be settled before its confirm has settled the original.
      settlements.sort((one, other) => one.attempt - other.attempt);
      // RabbitMQ counts a republished message, and with it its delays, from 1 again.
      expect(settlements.map(({ decision }) => decision.kind)).toEqual([
        'requeue',
        'republish',
        'republish',
        'republish',
        'republish',
        'deadLetter',
      ]);
      const [first, atOnce, again, own, last] = gaps();
      expect(first).toBeGreaterThanOrEqual(FIRST - 2);
      expect(atOnce).toBeLessThan(FIRST - 50);
      for (const gap of [again, last]) expect(gap).toBeGreaterThanOrEqual(LONGEST - 2);
      expect(own).toBeGreaterThanOrEqual(300);
    });

    it('apply to a message whose consumer died, and count that attempt', async () => {
      queue = unique('died');
      const name = unique('dying');
      const Handler = recorded(delayedByBroker(queue, 2), (attempt, signal) =>
        attempt === 1
          ? new Promise((resolve) => signal.addEventListener('abort', () => resolve()))
          : retryAfter(),
      );
      await startApp({
        providers: [Handler],
        rabbit: { connectionManagerOptions: connectionNamed(name) },
      });
      await broker.send(queue, 'poison');
      await until(() => runs.length === 1);
      await killConnections(name);
      await broker.waitForReady(`${queue}.dead`, 1, 20_000);
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect(gaps()[0]).toBeGreaterThanOrEqual(FIRST - 50);
    });

    it('combine with deadLetter by the broker', async () => {
      queue = unique('both');
      const options = {
        ...delayedByBroker(queue, 3),
        deadLetter: { queue: `${queue}.dead`, by: 'broker' as const },
      };
      const Handler = recorded(options, () => retryAfter());
      await startApp({ providers: [Handler] });
      await broker.send(queue, 'poison');
      await broker.waitForReady(`${queue}.dead`, 1, 20_000);
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    });

    it('are declared with the queue, and refused in one line if the queue exists without them', async () => {
      queue = unique('declared');
      const Handler = recorded(delayedByBroker(queue, 3), () => retryAfter());
      const { close } = await startApp({ providers: [Handler] });
      const declared = {
        'x-queue-type': 'quorum',
        'x-delivery-limit': -1,
        'x-delayed-retry-type': 'failed',
        'x-delayed-retry-min': FIRST,
        'x-delayed-retry-max': LONGEST,
      };
      await broker.declare(queue, { durable: true, arguments: declared });
      const other = { ...declared, 'x-delayed-retry-max': 1 };
      await expect(broker.declare(queue, { durable: true, arguments: other })).rejects.toThrow(
        /x-delayed-retry-max/,
      );
      await close();
      queue = unique('without');
      await broker.declare(queue, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
      const Refused = recorded(delayedByBroker(queue, 3), () => retryAfter());
      await expect(startApp({ providers: [Refused] })).rejects.toThrow(
        /Handler\.handle: RabbitMQ refused to declare or consume queue .*406.*x-delayed-retry-/,
      );
    });
  },
);
