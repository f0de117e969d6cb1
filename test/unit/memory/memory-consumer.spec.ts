import { describe, expect, it } from 'vitest';
import type { SubscribeOptions } from '../../../lib';
import { linear } from '../../../lib';
import type { BrokerDelivery } from '../../../lib/amqp/port';
import { SubscriptionLog } from '../../../lib/log/subscription-log';
import { MemoryConnection } from '../../../lib/memory/memory-connection';
import { normalize } from '../../../lib/subscribe/normalize';
import { ServerUnderTest } from './server';

/** One consumer on a server in memory, with what its listener and its log were told. */
async function consumerOf(test: ServerUnderTest, options: SubscribeOptions) {
  const told: string[] = [];
  const lines: string[] = [];
  const deliveries: BrokerDelivery[] = [];
  const note = (level: string) => (text: unknown) => lines.push(`${level} ${text}`);
  const logger = { log: note('log'), warn: note('warn'), error: note('error') };
  const connection = new MemoryConnection({ name: 'default' } as never, test.server, test.clock);
  const broker = connection.broker({
    republishTimeout: 30_000,
    logOf: () => new SubscriptionLog(logger, 'Billing.charge', test.clock),
  });
  const consumer = broker.consumer(normalize('Billing.charge', options), 10, {
    delivered: (delivery) => deliveries.push(delivery),
    ageOf: () => 0,
    channelLost: () => told.push('channelLost'),
    consuming: () => told.push('consuming'),
    reconnecting: () => told.push('reconnecting'),
    refused: (reason) => told.push(`refused: ${reason.message}`),
  });
  await consumer.start();
  return { consumer, connection, told, lines, deliveries };
}

describe('the consumer in memory', () => {
  it('is refused the broker’s own delay before 4.3, and gets it from then on', async () => {
    const options: SubscribeOptions = {
      queue: 'billing',
      queueType: 'quorum',
      retry: { attempts: 3, backoff: linear('5s', { max: '1m' }), by: 'broker' },
    };
    const old = await consumerOf(new ServerUnderTest([4, 0]), options);
    expect(old.told).toEqual([expect.stringMatching(/refused: .*4\.3 or later; found 4\.0/)]);
    const test = new ServerUnderTest([4, 3]);
    const { told, deliveries } = await consumerOf(test, options);
    expect(told).toEqual(['consuming']);
    test.send('billing', 'one');
    await test.turn();
    deliveries[0]?.settle('requeueFailed', () => {});
    await test.pass(4_999);
    expect(deliveries).toHaveLength(1);
    await test.pass(1);
    expect(deliveries).toHaveLength(2);
  });

  it('tries a refused declaration again, until it is accepted', async () => {
    const test = new ServerUnderTest();
    const { told } = await consumerOf(test, {
      queue: 'billing',
      exchange: 'late',
      routingKey: 'a',
    });
    expect(told).toEqual([expect.stringContaining("no exchange 'late'")]);
    test.server.declareExchange('late', 'topic');
    await test.pass(200);
    expect(told.at(-1)).toBe('consuming');
  });

  it('says that a dead-letter route of the options leads nowhere', async () => {
    const queueOptions = { deadLetterExchange: 'nowhere' };
    const { lines } = await consumerOf(new ServerUnderTest(), { queue: 'billing', queueOptions });
    expect(lines).toEqual([
      expect.stringMatching(/^warn .*\[missing-exchange\] .*"nowhere" does not exist/),
    ]);
  });

  it('notices that a queue does not count, whatever its subscription says', async () => {
    const test = new ServerUnderTest();
    test.declare('billing', { 'x-queue-type': 'classic' });
    const options = { queue: 'billing', queueType: 'quorum', declare: false } as const;
    const { deliveries, lines } = await consumerOf(test, options);
    test.send('billing', 'one');
    await test.turn();
    expect(deliveries[0]?.countsRedeliveries).toBe(true);
    deliveries[0]?.settle('requeueFailed', () => {});
    await test.turn();
    expect(deliveries[1]?.countsRedeliveries).toBe(false);
    expect(lines).toEqual([expect.stringMatching(/^error .*expected a quorum queue/)]);
  });

  it('keeps nothing on the clock once it is closed', async () => {
    const test = new ServerUnderTest();
    const { consumer, connection, told } = await consumerOf(test, { queue: 'billing' });
    connection.lose();
    expect(told).toEqual(['consuming', 'channelLost', 'reconnecting']);
    await consumer.close(1_000);
    await test.turn();
    expect(test.clock.nextAt).toBeUndefined();
    await test.pass(60_000);
    expect(told).toHaveLength(3);
  });
});
