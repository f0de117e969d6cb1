import { describe, expect, it } from 'vitest';
import { type Delivery, drop, type Outcome, retry, retryAfter } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

const hostile: [name: string, value: unknown][] = [
  ['a text', '2'],
  ['a negative number', -5],
  ['zero', 0],
  ['a fraction', 1.5],
  ['a huge number', 1e12],
  ['2^63 - 1024', { '!': 'int64', value: 2 ** 63 - 1024 }],
  ['a list', [2]],
  ['a table', { n: 2 }],
  ['null', null],
  ['true', true],
  ['bytes', Buffer.from([2])],
  ['10 kB of text', '9'.repeat(10_000)],
];

describe.each(['classic', 'quorum'] as const)(
  'the headers of a message on a %s queue',
  async (queueType) => {
    const broker = await openBroker();

    function failing(queue: string, attempts: number, way: () => Outcome) {
      const seen: Delivery[] = [];
      const Handler = handlerOf(
        { queue, queueType, retry: { attempts }, deadLetter: `${queue}.dead` },
        (_payload, delivery) => {
          seen.push(delivery);
          return way();
        },
      );
      return { seen, Handler };
    }

    it.each(hostile)('with an attempt header that is %s: attempt 1', async (_name, value) => {
      const queue = unique('hostile');
      const { seen, Handler } = failing(queue, 3, () => retryAfter(5));
      await startApp({ providers: [Handler] });
      const headers = { 'x-settle-attempt': value, 'x-settle-queue': queue };
      await broker.send(queue, {}, { headers });
      const dead = await broker.take(`${queue}.dead`);
      expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
      expect(seen.map(({ headers }) => headers['x-settle-attempt']).slice(1)).toEqual([2, 3]);
      expect(dead.properties.headers).not.toHaveProperty('x-settle-attempt');
    });

    it.each([3, 4, 2 ** 31 - 1])(
      'with an attempt header of %i of 3: one attempt, then the end',
      async (attempt) => {
        const queue = unique('forged');
        const { seen, Handler } = failing(queue, 3, retry);
        await startApp({ providers: [Handler] });
        const headers = { 'x-settle-attempt': attempt, 'x-settle-queue': queue };
        await broker.send(queue, {}, { headers });
        const { properties } = await broker.take(`${queue}.dead`);
        expect(seen.map((delivery) => delivery.attempt)).toEqual([3]);
        expect(properties.headers).toMatchObject({
          'x-settle-reason': 'attempts',
          'x-settle-attempts-made': 3,
        });
      },
    );

    it('with an attempt header for no queue or for another queue: attempt 1', async () => {
      const queue = unique('foreign');
      const { seen, Handler } = failing(queue, 2, drop);
      const app = await startApp({ providers: [Handler] });
      for (const named of [undefined, `${queue}.other`, 7]) {
        await broker.send(
          queue,
          {},
          {
            headers: { 'x-settle-attempt': 2, 'x-settle-queue': named },
          },
        );
      }
      await app.settled(3);
      expect(seen.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    });

    it('forwarded by a handler to an exchange with all headers: attempt 1', async () => {
      const queue = unique('forwarded');
      const exchange = unique('forward');
      await broker.exchange(exchange, 'fanout', { autoDelete: true });
      const seen: [number, string][] = [];
      const Handler = handlerOf(
        { queue, queueType, exchange, routingKey: 'k', retry: { attempts: 3 } },
        async (_payload, { attempt, exchange: from, headers }) => {
          seen.push([attempt, from]);
          if (seen.length === 1) return retryAfter(5);
          if (seen.length === 2)
            await broker.publish(exchange, 'k', {}, { headers: { ...headers } });
        },
      );
      await startApp({ providers: [Handler] });
      await broker.send(queue, {});
      await until(() => seen.length === 3);
      expect(seen).toEqual([
        [1, ''],
        [2, ''],
        [1, exchange],
      ]);
    });

    it.each(['client', 'broker'] as const)(
      'of a dead letter made by the %s and published to the queue again: attempt 1',
      async (by) => {
        const queue = unique('replay');
        const seen: number[] = [];
        let isMended = false;
        const Handler = handlerOf(
          {
            queue,
            queueType,
            retry: { attempts: 2 },
            deadLetter: { queue: `${queue}.dead`, by },
          },
          (_payload, { attempt }) => {
            seen.push(attempt);
            return isMended ? undefined : retryAfter(5);
          },
        );
        const app = await startApp({ providers: [Handler] });
        await broker.send(queue, {});
        const { content, properties } = await broker.take(`${queue}.dead`);
        expect(seen).toEqual([1, 2]);
        isMended = true;
        const { headers } = properties;
        await broker.send(queue, content, { ...properties, headers: { ...headers } });
        await app.settled(3);
        expect(seen).toEqual([1, 2, 1]);
        await broker.waitForReady(queue, 0);
        expect(await broker.ready(`${queue}.dead`)).toBe(0);
      },
    );

    it.each([retry, () => retryAfter(5)])(
      'with an x-death header of another service: it has no effect',
      async (way) => {
        const queue = unique('death');
        const { seen, Handler } = failing(queue, 3, way);
        await startApp({ providers: [Handler] });
        const death = { queue: 'other', reason: 'expired', count: 50, exchange: '' };
        await broker.send(queue, {}, { headers: { 'x-death': [death] } });
        const dead = await broker.take(`${queue}.dead`);
        expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
        expect(dead.properties.headers).not.toHaveProperty('x-death');
        const waited = seen
          .slice(1)
          .map(({ headers }) => headers['x-death'] as { queue: string }[]);
        if (seen[1]?.redelivered === false) {
          for (const deaths of waited) expect(deaths?.length ?? 0).toBeLessThanOrEqual(1);
          expect(JSON.stringify(waited)).not.toContain('"other"');
        }
      },
    );

    it('do not grow over 200 delayed retries', { timeout: 60_000 }, async () => {
      const queue = unique('cycles');
      const { seen, Handler } = failing(queue, 200, () => retryAfter(5));
      await startApp({ providers: [Handler] });
      await broker.send(queue, {}, { headers: { application: 'a' } });
      const dead = await broker.take(`${queue}.dead`, 50_000);
      expect(seen.map(({ attempt }) => attempt)).toEqual(
        Array.from({ length: 200 }, (_, index) => index + 1),
      );
      const sizes = seen.map(({ headers }) => JSON.stringify(headers).length);
      // Two numbers in them have gained digits.
      expect(sizes[199]).toBeLessThanOrEqual((sizes[4] ?? 0) + 8);
      expect(dead.properties.headers?.['application']).toBe('a');
    });
  },
);
