import { describe, expect, it } from 'vitest';
import { Panic, retry } from '../../lib';
import { startApp, type TestApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';
import { describeOn, itOn } from '../support/versions';

describe.each(['classic', 'quorum'] as const)(
  'a message that always fails, %s queue',
  async (queueType) => {
    const broker = await openBroker();
    const throwing = (): never => {
      throw new Error('not this one');
    };

    it('is rejected after one attempt by default, with one line that names it', async () => {
      const queue = unique('bad');
      let runs = 0;
      const Handler = handlerOf({ queue, queueType }, (id: string) => {
        runs += 1;
        if (id === 'bad') throwing();
      });
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, 'bad', { messageId: 'm-bad' });
      await broker.send(queue, 'good');
      await app.settled(2);
      await broker.waitForReady(queue, 0);
      expect(runs).toBe(2);
      const lines = app.log.matching(/m-bad/);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(queue);
      expect(lines[0]).toContain('not this one');
      expect(app.log.matching(/m-bad/, ['error'])).toHaveLength(1);
    });

    it('is attempted retry.attempts times and then rejected, with one line', async () => {
      const queue = unique('capped');
      let runs = 0;
      const Handler = handlerOf(
        { queue, queueType, retry: { attempts: 3 }, onError: 'retry' },
        () => {
          runs += 1;
          throwing();
        },
      );
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, 'bad', { messageId: 'm-bad' });
      await app.settled(3);
      await broker.waitForReady(queue, 0);
      expect(runs).toBe(3);
      const discarded = app.log.matching(/\[rejected\] message "m-bad"/, ['error']);
      expect(discarded).toHaveLength(1);
      expect(discarded[0]).toContain('attempt 3 of 3');
      expect(app.log.matching(/\[retrying\] message "m-bad"/, ['log'])).toHaveLength(2);
    });

    it('does not block the next message, prefetch 1', async () => {
      const queue = unique('behind');
      const runs: string[] = [];
      const Handler = handlerOf(
        { queue, queueType, prefetch: 1, retry: { attempts: 5 }, deadLetter: `${queue}.dead` },
        (id: string) => {
          runs.push(id);
          return id === 'bad' ? retry() : undefined;
        },
      );
      const app = await startApp({ providers: [Handler] });
      await app.registry.pause(Handler, 'handle');
      await broker.send(queue, 'bad');
      await broker.send(queue, 'good');
      await app.registry.resume(Handler, 'handle');
      await app.settled(6);
      expect(runs.filter((id) => id === 'bad')).toHaveLength(5);
      expect(runs).toContain('good');
      // A republished message goes to the end of the queue; a requeued one keeps its position.
      if (queueType === 'classic') expect(runs.slice(0, 2)).toEqual(['bad', 'good']);
      await broker.waitForReady(`${queue}.dead`, 1);
    });

    const goesRound =
      queueType === 'classic'
        ? it
        : itOn({ before: '4.0', because: 'later ones limit it to 20 redeliveries' });

    goesRound(
      'is redelivered for ever by retry() without retry.attempts, which is logged once',
      async () => {
        const queue = unique('round');
        let runs = 0;
        const Handler = handlerOf({ queue, queueType }, (_payload, { attempt }) => {
          runs += 1;
          if (queueType === 'quorum') expect(attempt).toBe(runs);
          return runs <= 25 ? retry() : undefined;
        });
        const app = await startApp({ providers: [Handler] });
        await broker.send(queue, 'bad');
        await app.settled(26);
        expect(runs).toBe(26);
        expect(app.settlements.at(-1)?.decision.kind).toBe('ack');
        expect(app.log.matching(/\[endless-retry\]/, ['warn'])).toHaveLength(1);
      },
    );
  },
);

describeOn({ from: '4.0', because: 'earlier ones set no limit' })(
  'a message that always fails, quorum queue declared elsewhere without a delivery limit',
  async () => {
    const broker = await openBroker();

    it("is redelivered by retry() up to the broker's default limit, then deleted", async () => {
      const queue = unique('limited');
      const attempts: number[] = [];
      await broker.declare(queue, { arguments: { 'x-queue-type': 'quorum' } });
      const Handler = handlerOf(
        { queue, queueType: 'quorum', declare: { queue: false } },
        (id: string, { attempt }) => {
          if (id === 'bad') attempts.push(attempt);
          return id === 'bad' ? retry() : undefined;
        },
      );
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, 'bad');
      await app.settled(21);
      await broker.send(queue, 'good');
      await app.settled(22);
      expect(attempts).toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
      expect(await broker.ready(queue)).toBe(0);
    });

    it('causes a warning at startup if a policy is retry', async () => {
      const queue = unique('announced');
      await broker.declare(queue, { arguments: { 'x-queue-type': 'quorum' } });
      const Handler = handlerOf(
        { queue, queueType: 'quorum', onError: 'retry', declare: { queue: false } },
        () => undefined,
      );
      const { log } = await startApp({ providers: [Handler] });
      expect(
        log.matching(
          /^Handler\.handle \[delivery-limit\] a policy is 'retry' .* after 20 redeliveries RabbitMQ deletes/,
          ['warn'],
        ),
      ).toHaveLength(1);
    });
  },
);

describe.each(['classic', 'quorum'] as const)(
  'a message that always panics, %s queue',
  async (queueType) => {
    const broker = await openBroker();

    /** Starts the application as a supervisor does, each time until it shuts down or is idle. */
    async function supervised(
      starts: number,
      options: Partial<AcknowledgedOptions>,
    ): Promise<{ queue: string; runs: string[]; apps: TestApp[] }> {
      const queue = unique('panic');
      const runs: string[] = [];
      const apps: TestApp[] = [];
      await broker.declare(queue, { arguments: { 'x-queue-type': queueType } });
      await broker.send(queue, 'poison', { messageId: 'm-poison' });
      for (let id = 1; id <= 5; id += 1) await broker.send(queue, `good ${id}`);
      const Handler = handlerOf({ queue, queueType, prefetch: 1, ...options }, (id: string) => {
        runs.push(id);
        if (id === 'poison') throw new Panic('a bug');
      });
      for (let start = 0; start < starts; start += 1) {
        const app = await startApp({ providers: [Handler] });
        apps.push(app);
        await until(async () => app.failed.length > 0 || (await broker.ready(queue)) === 0);
        await app.close();
      }
      return { queue, runs, apps };
    }

    it("shuts the application down at every start by 'failFast', with a line that names the message", async () => {
      const { queue, runs, apps } = await supervised(4, {});
      expect(runs).toEqual(['poison', 'poison', 'poison', 'poison']);
      for (const { failed, log } of apps) {
        expect(failed).toHaveLength(1);
        expect(log.matching(/m-poison.*shutting down/)).toHaveLength(1);
      }
      await broker.waitForReady(queue, 6);
    });

    it("shuts it down once by 'failFastOnce', and is then dropped", async () => {
      const dead = unique('panic.dead');
      const { queue, runs, apps } = await supervised(2, {
        onPanic: 'failFastOnce',
        deadLetter: dead,
      });
      expect(apps.map(({ failed }) => failed.length)).toEqual([1, 0]);
      expect(runs.slice(0, 2)).toEqual(['poison', 'poison']);
      expect(runs.slice(2)).toEqual(['good 1', 'good 2', 'good 3', 'good 4', 'good 5']);
      expect((await broker.take(dead)).properties.headers?.['x-settle-reason']).toBe('panic');
      expect(await broker.ready(queue)).toBe(0);
    });

    it('ends at retry.attempts only if the broker counts redeliveries', async () => {
      const dead = unique('panic.dead');
      const { runs, apps } = await supervised(4, { retry: { attempts: 3 }, deadLetter: dead });
      const poison = runs.filter((id) => id === 'poison');
      const stops = apps.map(({ failed }) => failed.length);
      if (queueType === 'classic') {
        expect(poison).toHaveLength(4);
        expect(stops).toEqual([1, 1, 1, 1]);
        return;
      }
      expect(poison).toHaveLength(3);
      expect(stops).toEqual([1, 1, 1, 0]);
      const { properties } = await broker.take(dead);
      expect(properties.headers).toMatchObject({
        'x-settle-reason': 'attempts',
        'x-settle-attempts-made': 3,
      });
      expect(runs).toContain('good 5');
    });
  },
);
