import assert from 'node:assert/strict';
import type { TestMessage } from '../../lib/testing/test-settlement';
import type { ConformanceAdapter, ConformanceScenario } from './adapter';
import { ConsumerUnderTest, deathOf, freshName, poll, send, settle, waitForReady } from './bench';

const TYPES = ['classic', 'quorum'] as const;

/** Dead-lettering by the broker: expiry, rejection, limits, and the headers it adds. */
export const deadLetteringScenarios: readonly ConformanceScenario[] = TYPES.flatMap((queueType) => [
  {
    name: `${queueType}: an expired message has an x-death header, and no expiration any more`,
    async run(adapter) {
      const queue = freshName('expired');
      const dead = await declareWithRoute(adapter, queue, { 'x-queue-type': queueType });
      const properties = { expiration: '50', CC: ['elsewhere'], headers: { tenant: 'a' } };
      await send(adapter, queue, 'one', { ...properties, messageId: 'm1', priority: 1 });
      const [message] = await waitForReady(adapter, dead, 1);
      const [death, ...others] = deathsOf(message);
      assert.deepEqual(others, []);
      const { time, ...rest } = death ?? {};
      assert.equal((time as { readonly '!': string })['!'], 'timestamp');
      assert.deepEqual(rest, {
        count: 1,
        reason: 'expired',
        queue,
        exchange: '',
        'routing-keys': [queue, 'elsewhere'],
        'original-expiration': '50',
      });
      assert.equal(message?.properties['expiration'], undefined);
      assert.equal(message?.properties['messageId'], 'm1');
      assert.equal(message?.properties['priority'], 1);
      // The new routing key replaces all others. Before 4.0 RabbitMQ also removes CC.
      assert.deepEqual([message?.exchange, message?.routingKey], ['', dead]);
      assert.equal(message?.headers['tenant'], 'a');
      assert.equal(message?.headers['x-first-death-queue'], queue);
      assert.equal(message?.headers['x-first-death-reason'], 'expired');
      assert.equal(message?.headers['x-first-death-exchange'], '');
    },
  },
  {
    name: `${queueType}: a message expires only at the head of its queue`,
    async run(adapter) {
      const queue = freshName('head');
      const dead = await declareWithRoute(adapter, queue, { 'x-queue-type': queueType });
      await send(adapter, queue, 'long', { expiration: '1500' });
      await send(adapter, queue, 'short', { expiration: '50' });
      await adapter.pass(600);
      assert.deepEqual(await adapter.messages(dead), []);
      const messages = await waitForReady(adapter, dead, 2);
      assert.deepEqual(
        messages.map(({ body }) => body.toString()),
        ['long', 'short'],
      );
    },
  },
  {
    name: `${queueType}: a dead-letter cycle without a rejection drops the message`,
    async run(adapter) {
      const [queue, waiting] = [freshName('cycle'), freshName('cycle.waiting')];
      const ttl = { 'x-queue-type': queueType, 'x-message-ttl': 200 };
      await declareRoute(adapter, queue, waiting, ttl);
      await declareRoute(adapter, waiting, queue, ttl);
      await send(adapter, queue, 'one');
      await waitForReady(adapter, waiting, 1);
      await waitForReady(adapter, waiting, 0);
      await adapter.pass(300);
      assert.deepEqual(await adapter.messages(queue), []);
      assert.deepEqual(await adapter.messages(waiting), []);
    },
  },
  {
    name: `${queueType}: a dead-letter cycle with a rejection continues, and is counted`,
    async run(adapter) {
      const queue = freshName('rejections');
      const waiting = `${queue}.waiting`;
      await declareRoute(adapter, waiting, queue, { 'x-message-ttl': 50 });
      const queueOptions = { deadLetterExchange: '', deadLetterRoutingKey: waiting };
      const options = { queue, queueType, queueOptions };
      const under = await new ConsumerUnderTest(adapter, options).start();
      await send(adapter, queue, 'one', { expiration: '60000' });
      for (let round = 0; round < 2; round += 1) await settle(await under.next(), 'reject');
      const third = await under.next();
      const deaths = deathsOf({ headers: third.message.properties.headers ?? {} });
      assert.deepEqual(
        deaths.map(({ count, reason, queue: where }) => [count, reason, where]),
        [
          [2, 'expired', waiting],
          [2, 'rejected', queue],
        ],
      );
      assert.equal(deaths[1]?.['original-expiration'], '60000');
      // Since 4.0 RabbitMQ keeps the count of a quorum queue, and with it the flag.
      if (queueType === 'classic') assert.equal(third.message.fields.redelivered, false);
      await settle(third, 'ack');
      await under.close();
    },
  },
  ...(['a missing exchange', 'an exchange without a queue'] as const).map((where) => ({
    name: `${queueType}: dead-lettering to ${where} discards the message`,
    async run(adapter: ConformanceAdapter) {
      const [queue, exchange] = [freshName('nowhere'), freshName('nowhere.exchange')];
      if (where !== 'a missing exchange') await adapter.declareExchange(exchange, 'fanout');
      const queueOptions = { deadLetterExchange: exchange };
      const options = { queue, queueType, queueOptions };
      const under = await new ConsumerUnderTest(adapter, options).start();
      await send(adapter, queue, 'one');
      assert.equal(await settle(await under.next(), 'reject'), true);
      await send(adapter, queue, 'two');
      const next = await under.next();
      assert.equal(next.message.content.toString(), 'two');
      await settle(next, 'ack');
      await under.close();
      await waitForReady(adapter, queue, 0);
    },
  })),
]);

/** The delivery limit and count of a quorum queue. */
export const limitScenarios: readonly ConformanceScenario[] = [0, 1, 2].map((limit) => ({
  name: `quorum: with a delivery limit of ${limit} a message is delivered ${limit + 1} times, at first without a count`,
  async run(adapter) {
    const queue = freshName('limit');
    const dead = `${queue}.dead`;
    await adapter.declareQueue(dead, {});
    const under = await new ConsumerUnderTest(adapter, {
      queue,
      queueType: 'quorum',
      queueOptions: {
        deadLetterExchange: '',
        deadLetterRoutingKey: dead,
        arguments: { 'x-delivery-limit': limit },
      },
    }).start();
    await send(adapter, queue, 'one');
    for (let returns = 0; returns <= limit; returns += 1) {
      const delivery = await under.next();
      const count: unknown = delivery.message.properties.headers?.['x-delivery-count'];
      assert.equal(count, returns === 0 ? undefined : returns);
      assert.equal(under.attempt(delivery), returns + 1);
      await settle(delivery, 'requeueFailed');
    }
    const [message] = await waitForReady(adapter, dead, 1);
    assert.deepEqual(deathOf(message), { reason: 'delivery_limit', queue });
    assert.equal(under.delivered, limit + 1);
    await under.close();
  },
}));

/** Messages with several addresses. */
export const carbonScenarios: readonly ConformanceScenario[] = [
  {
    name: 'a message is routed to the queues in CC and BCC too, each once, without the BCC header',
    async run(adapter) {
      const [to, cc, bcc] = [freshName('to'), freshName('cc'), freshName('bcc')];
      for (const queue of [to, cc, bcc]) await adapter.declareQueue(queue, {});
      await send(adapter, to, 'one', { CC: [cc, to], BCC: [bcc] });
      for (const queue of [to, cc, bcc]) {
        const [message] = await waitForReady(adapter, queue, 1);
        assert.deepEqual(message?.headers['CC'], [cc, to]);
        assert.equal(message?.headers['BCC'], undefined);
        assert.equal(message?.routingKey, to);
      }
      await poll(adapter, 'only one message', async () =>
        (await adapter.messages(to))?.length === 1 ? true : undefined,
      );
    },
  },
];

/** Declares a queue and a dead-letter queue for it; returns the latter's name. */
async function declareWithRoute(
  adapter: ConformanceAdapter,
  queue: string,
  args: Readonly<Record<string, unknown>>,
): Promise<string> {
  const dead = `${queue}.dead`;
  await adapter.declareQueue(dead, {});
  await declareRoute(adapter, queue, dead, args);
  return dead;
}

async function declareRoute(
  adapter: ConformanceAdapter,
  queue: string,
  to: string,
  args: Readonly<Record<string, unknown>>,
): Promise<void> {
  const route = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': to };
  await adapter.declareQueue(queue, { ...args, ...route });
}

function deathsOf(message: Pick<TestMessage, 'headers'> | undefined): Record<string, unknown>[] {
  const deaths: unknown = message?.headers['x-death'];
  assert.ok(Array.isArray(deaths));
  return deaths as Record<string, unknown>[];
}
