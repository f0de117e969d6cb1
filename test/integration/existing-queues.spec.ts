import { describe, expect, it } from 'vitest';
import { retry, retryAfter } from '../../lib';
import { startApp, type TestApp } from '../support/app';
import { management, openBroker, unique } from '../support/broker';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';
import { setPolicy } from '../support/policies';

/** The attempts that were settled, sorted: a republished message may be settled before its original. */
function attemptsOf({ settlements }: TestApp): number[] {
  return settlements.map(({ attempt }) => attempt).sort();
}

describe.each(['classic', 'quorum'] as const)(
  'a %s queue that is declared elsewhere',
  async (queueType) => {
    const broker = await openBroker();

    /** A queue, and the dead-letter queue that its policy names. */
    async function declare(name: string, limits: Record<string, unknown> = {}): Promise<string> {
      const queue = unique(name);
      await broker.declare(queue, { arguments: { 'x-queue-type': queueType } });
      await broker.declare(`${queue}.policy-dead`);
      await setPolicy(queue, {
        'dead-letter-exchange': '',
        'dead-letter-routing-key': `${queue}.policy-dead`,
        ...limits,
      });
      return queue;
    }

    it.each<
      [what: string, body: () => unknown, options: Partial<AcknowledgedOptions>, runs: number]
    >([
      ['an error', () => Promise.reject(new Error('failed')), {}, 1],
      ['the last retry()', () => retry(), { retry: { attempts: 3 } }, 3],
      ['the last retryAfter()', () => retryAfter(20), { retry: { attempts: 3 } }, 3],
    ])('dead-letters rejected messages by its policy: %s', async (_what, body, options, runs) => {
      const queue = await declare('policy-route');
      const Handler = handlerOf({ queue, queueType, declare: { queue: false }, ...options }, body);
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, {}, { messageId: 'm1' });
      const { properties } = await broker.take(`${queue}.policy-dead`);
      expect(properties.messageId).toBe('m1');
      expect(properties.headers?.['x-death']?.[0]).toMatchObject({ queue, reason: 'rejected' });
      await app.settled(runs);
      expect(attemptsOf(app)).toEqual(Array.from({ length: runs }, (_, index) => index + 1));
      expect(await broker.ready(queue)).toBe(0);
    });

    it('is bound to the exchange of the subscription', async () => {
      const queue = await declare('bound');
      const exchange = unique('bound');
      const Handler = handlerOf(
        { exchange, routingKey: 'key', queue, queueType, declare: { queue: false } },
        () => undefined,
      );
      const exchanges = [{ name: exchange, type: 'direct' as const }];
      const app = await startApp({ providers: [Handler], rabbit: { exchanges } });
      await broker.publish(exchange, 'key', {});
      await app.settled(1);
    });

    it('dead-letters nothing by its policy if deadLetter is set', async () => {
      const queue = await declare('both-routes');
      const dead = `${queue}.dead`;
      const Handler = handlerOf(
        { queue, queueType, declare: { queue: false }, retry: { attempts: 2 }, deadLetter: dead },
        () => retry(),
      );
      await startApp({ providers: [Handler] });
      await broker.send(queue, {});
      const { properties } = await broker.take(dead);
      expect(properties.headers?.['x-settle-reason']).toBe('attempts');
      expect(await broker.ready(`${queue}.policy-dead`)).toBe(0);
      expect(await broker.ready(queue)).toBe(0);
    });

    it('is consumed although its arguments differ from those of a declaration, and stays as it is', async () => {
      const queue = unique('as-it-is');
      const given = {
        'x-queue-type': queueType,
        'x-max-length': 7,
        'x-single-active-consumer': true,
      };
      await broker.declare(queue, { arguments: given });
      const Handler = handlerOf(
        { queue, queueType, declare: { queue: false }, retry: { attempts: 2 } },
        (_payload, { attempt }) => (attempt === 1 ? retryAfter(20) : undefined),
      );
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, {});
      await app.settled(2);
      expect(attemptsOf(app)).toEqual([1, 2]);
      const listed = (await management.queues()).find(({ name }) => name === queue);
      expect(listed?.arguments).toEqual(given);
    });

    it('is counted correctly even if queueType is wrong', async () => {
      const queue = unique('mistaken');
      await broker.declare(queue, { arguments: { 'x-queue-type': queueType } });
      const dead = `${queue}.dead`;
      const Handler = handlerOf(
        {
          queue,
          queueType: queueType === 'classic' ? 'quorum' : 'classic',
          declare: { queue: false },
          retry: { attempts: 4 },
          deadLetter: dead,
        },
        (_payload, { attempt }) => (attempt === 2 ? retryAfter(20) : retry()),
      );
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, {});
      const { properties } = await broker.take(dead);
      expect(properties.headers?.['x-settle-reason']).toBe('attempts');
      const attempts = attemptsOf(app);
      // Without a count the first redelivery goes unnoticed: one attempt too many.
      expect(attempts).toEqual(queueType === 'classic' ? [1, 1, 2, 3, 4] : [1, 2, 3, 4]);
      const lines = app.log.matching(/\[not-counting\] .*Correct queueType/);
      expect(lines).toHaveLength(queueType === 'classic' ? 1 : 0);
    });
  },
);
