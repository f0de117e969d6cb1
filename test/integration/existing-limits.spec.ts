import { afterAll, describe, expect, it } from 'vitest';
import { retry, retryAfter } from '../../lib';
import { startApp } from '../support/app';
import { Broker, management, openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { setPolicy } from '../support/policies';
import { openProxy } from '../support/proxied';
import { itOn } from '../support/versions';

describe('a quorum queue with a delivery limit by policy', async () => {
  const broker = await openBroker();

  it.each([true, false])(
    'below retry.attempts: the limit applies, nothing is lost (declare: %s)',
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

  it('dead-letters a message whose consumer dies, even if queueType is classic', async () => {
    const queue = unique('policy-limit-lost');
    await broker.declare(queue, { arguments: { 'x-queue-type': 'quorum' } });
    await broker.declare(`${queue}.policy-dead`);
    await setPolicy(queue, {
      'delivery-limit': 2,
      'dead-letter-exchange': '',
      'dead-letter-routing-key': `${queue}.policy-dead`,
    });
    const proxy = await openProxy();
    const seen: number[] = [];
    const Handler = handlerOf(
      { queue, declare: { queue: false }, retry: { attempts: 2 }, deadLetter: `${queue}.dead` },
      async (_payload, { attempt, signal }) => {
        seen.push(attempt);
        proxy.cutAll();
        await until(() => signal.aborted);
      },
    );
    await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    await broker.send(queue, {});
    const { properties } = await broker.take(`${queue}.policy-dead`, 20_000);
    expect(properties.headers?.['x-death']?.[0]).toMatchObject({ queue, reason: 'delivery_limit' });
    expect(seen).toEqual([1, 1, 1]);
  });

  it('is listed by rabbitmqctl, with its type', async () => {
    const queue = unique('policy-shown');
    await broker.declare(queue, { arguments: { 'x-queue-type': 'quorum' } });
    await setPolicy(queue, { 'delivery-limit': 7 });
    const listed = await management.ctl('list_queues', 'name', 'type', 'arguments', 'policy');
    const [, type, , policy] =
      listed
        .split('\n')
        .map((line) => line.split('\t'))
        .find(([name]) => name === queue) ?? [];
    expect([type, policy?.trim()]).toEqual(['quorum', queue]);
  });

  it('does not count republished messages: each starts with a count of its own', async () => {
    const queue = unique('policy-limit-republished');
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
    expect(app.settlements.map(({ attempt }) => attempt).sort()).toEqual([1, 2, 3, 4, 5]);
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

  itOn(from)('counts redeliveries like any quorum queue', async () => {
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
    expect(app.settlements.map(({ attempt, decision }) => [attempt, decision.kind])).toEqual([
      [1, 'requeue'],
      [2, 'requeue'],
      [3, 'deadLetter'],
    ]);
  });

  itOn(from)('can be declared as quorum, and is refused as classic', async () => {
    const queue = unique('vhost-declared');
    await broker.declare(queue);
    const rabbit = { uri: address.href };
    const classic = startApp({ providers: [handlerOf({ queue }, () => undefined)], rabbit });
    await expect(classic).rejects.toThrow(
      new RegExp(`RabbitMQ refused to declare or consume queue "${queue}": .*x-queue-type`),
    );
    const app = await startApp({
      providers: [handlerOf({ queue, queueType: 'quorum' }, () => undefined)],
      rabbit,
    });
    await broker.send(queue, {});
    await app.settled(1);
  });
});
