import { afterAll, describe, expect, it } from 'vitest';
import { retry, retryAfter, type SubscribeOptions } from '../../lib';
import { startApp, type TestApp } from '../support/app';
import { Broker, management, openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { itOn } from '../support/versions';

/** The attempts that were settled; the settlement of a copy may be told after that of the next attempt. */
function attemptsOf({ settlements }: TestApp): number[] {
  return settlements.map(({ attempt }) => attempt).sort();
}

/** Sets a policy for the queues whose names begin so, and waits until a queue has it. */
async function setPolicy(queue: string, definition: Record<string, unknown>): Promise<void> {
  await management.setPolicy(queue, { pattern: `^${queue.replaceAll('.', '\\.')}$`, definition });
  afterAll(() => management.clearPolicy(queue));
  await until(
    async () =>
      (await management.queues()).some((one) => one.name === queue && one.policy === queue),
    { what: `policy of ${queue}` },
  );
}

describe.each(['classic', 'quorum'] as const)(
  'a %s queue that others declare',
  async (queueType) => {
    const broker = await openBroker();

    /** A queue, and a dead-letter queue to which a policy leads it. */
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

    it.each<[what: string, body: () => unknown, options: Partial<SubscribeOptions>, runs: number]>([
      ['an error', () => Promise.reject(new Error('failed')), {}, 1],
      ['the last retry()', () => retry(), { retry: { attempts: 3 } }, 3],
      ['the last retryAfter()', () => retryAfter(20), { retry: { attempts: 3 } }, 3],
    ])('gives its policy what is rejected: %s', async (_what, body, options, runs) => {
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

    it('gives its policy nothing where deadLetter takes it', async () => {
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

    it('is consumed with arguments that a declaration would not match, and stays as it is', async () => {
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

    it('is counted exactly where the subscription takes it for the other type', async () => {
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
      // Without a count nobody can know of the first return: it is the one attempt too many.
      expect(attempts).toEqual(queueType === 'classic' ? [1, 1, 2, 3, 4] : [1, 2, 3, 4]);
      const lines = app.log.matching(/expected a quorum queue.*correct queueType/);
      expect(lines).toHaveLength(queueType === 'classic' ? 1 : 0);
    });
  },
);

describe('a quorum queue with a delivery limit by policy', async () => {
  const broker = await openBroker();

  it.each([true, false])(
    'below the cap: the limit wins, nothing is lost (declare: %s)',
    async (declare) => {
      const queue = unique('policy-limit');
      await broker.declare(queue, { arguments: { 'x-queue-type': 'quorum' } });
      await broker.declare(`${queue}.policy-dead`);
      await setPolicy(queue, {
        'delivery-limit': 1,
        'dead-letter-exchange': '',
        'dead-letter-routing-key': `${queue}.policy-dead`,
      });
      const seen: number[] = [];
      const Handler = handlerOf(
        { queue, queueType: 'quorum', declare: { queue: declare }, retry: { attempts: 5 } },
        (_payload, { attempt }) => {
          seen.push(attempt);
          return retry();
        },
      );
      await startApp({ providers: [Handler] });
      await broker.send(queue, {});
      const { properties } = await broker.take(`${queue}.policy-dead`);
      expect(properties.headers?.['x-death']?.[0]).toMatchObject({
        queue,
        reason: 'delivery_limit',
      });
      expect(seen).toEqual([1, 2]);
    },
  );

  it('does not count copies: each delayed one begins a count of its own', async () => {
    const queue = unique('policy-limit-copies');
    await broker.declare(queue, { arguments: { 'x-queue-type': 'quorum' } });
    await setPolicy(queue, { 'delivery-limit': 1 });
    const Handler = handlerOf(
      {
        queue,
        queueType: 'quorum',
        declare: { queue: false },
        retry: { attempts: 5 },
        deadLetter: `${queue}.dead`,
      },
      (_payload, { attempt }) => (attempt % 2 === 0 ? retryAfter(20) : retry()),
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const { properties } = await broker.take(`${queue}.dead`);
    expect(properties.headers?.['x-settle-reason']).toBe('attempts');
    expect(attemptsOf(app)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('a queue whose type is the default of its virtual host', async () => {
  const vhost = unique('quorum-by-default');
  const address = new URL(url);
  address.pathname = `/${vhost}`;
  await management.http.call('PUT', `vhosts/${vhost}`, { default_queue_type: 'quorum' });
  await management.setPermissions(management.http.user, {}, vhost);
  const broker = await Broker.connect(address.href);
  afterAll(async () => {
    await broker.close();
    await management.deleteVirtualHost(vhost);
  });
  const from = {
    from: '4.0',
    because: '3.10 knows no such default',
  } as const;

  itOn(from)('is counted by the broker as any quorum queue', async () => {
    const queue = unique('vhost-type');
    await broker.declare(queue);
    const Handler = handlerOf(
      {
        queue,
        queueType: 'quorum',
        declare: { queue: false },
        retry: { attempts: 3 },
        deadLetter: `${queue}.dead`,
      },
      () => retry(),
    );
    const app = await startApp({ providers: [Handler], rabbit: { uri: address.href } });
    await broker.send(queue, {});
    await broker.take(`${queue}.dead`);
    expect(app.settlements.map(({ attempt, decision }) => [attempt, decision.do])).toEqual([
      [1, 'requeue'],
      [2, 'requeue'],
      [3, 'copyToDeadLetter'],
    ]);
  });

  itOn(from)('is the same to a declaration as quorum, and refused as classic', async () => {
    const queue = unique('vhost-declared');
    await broker.declare(queue);
    const rabbit = { uri: address.href };
    const classic = startApp({ providers: [handlerOf({ queue }, () => undefined)], rabbit });
    await expect(classic).rejects.toThrow(
      new RegExp(`queue "${queue}": the broker refuses it: .*x-queue-type`),
    );
    const app = await startApp({
      providers: [handlerOf({ queue, queueType: 'quorum' }, () => undefined)],
      rabbit,
    });
    await broker.send(queue, {});
    await app.settled(1);
  });
});
