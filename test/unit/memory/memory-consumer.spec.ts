import { describe, expect, it } from 'vitest';
import type { SubscribeOptions } from '../../../lib';
import { linear } from '../../../lib';
import type { BrokerDelivery } from '../../../lib/amqp/port';
import { SubscriptionLog } from '../../../lib/log/subscription-log';
import { MemoryConnection } from '../../../lib/memory/memory-connection';
import { normalize } from '../../../lib/subscribe/normalize';
import { ServerUnderTest } from './server';

/** One consumer on an in-memory server, with its events and log lines. */
async function consumerOf(test: ServerUnderTest, options: SubscribeOptions) {
  const events: string[] = [];
  const lines: string[] = [];
  const deliveries: BrokerDelivery[] = [];
  const record = (level: string) => (text: unknown) => lines.push(`${level} ${text}`);
  const logger = { log: record('log'), warn: record('warn'), error: record('error') };
  const connection = new MemoryConnection({ name: 'default' } as never, test.server, test.clock);
  const broker = connection.broker({
    republishTimeout: 30_000,
    logOf: () => new SubscriptionLog(logger, 'Billing.charge', test.clock),
  });
  const consumer = broker.consumer(normalize('Billing.charge', options), 10, {
    delivered: (delivery) => deliveries.push(delivery),
    ageOf: () => 0,
    finished: () => Promise.resolve(),
    channelLost: () => events.push('channelLost'),
    consuming: () => events.push('consuming'),
    reconnecting: () => events.push('reconnecting'),
    refused: (reason) => events.push(`refused: ${reason.message}`),
  });
  await consumer.start();
  return { consumer, connection, events, lines, deliveries };
}

describe('MemoryConsumer', () => {
  it("refuses retry.by 'broker' before 4.3, and supports it from then on", async () => {
    const options: SubscribeOptions = {
      queue: 'billing',
      queueType: 'quorum',
      retry: { attempts: 3, backoff: linear('5s', { max: '1m' }), by: 'broker' },
    };
    const old = await consumerOf(new ServerUnderTest([4, 0]), options);
    expect(old.events).toEqual([expect.stringMatching(/refused: .*4\.3 or later; found 4\.0/)]);
    const test = new ServerUnderTest([4, 3]);
    const { events, deliveries } = await consumerOf(test, options);
    expect(events).toEqual(['consuming']);
    test.send('billing', 'one');
    await test.turn();
    deliveries[0]?.settle('requeueFailed', () => {});
    await test.pass(4_999);
    expect(deliveries).toHaveLength(1);
    await test.pass(1);
    expect(deliveries).toHaveLength(2);
  });

  it('retries a refused declaration until it is accepted', async () => {
    const test = new ServerUnderTest();
    const { events } = await consumerOf(test, {
      queue: 'billing',
      exchange: 'late',
      routingKey: 'a',
    });
    expect(events).toEqual([expect.stringContaining("no exchange 'late'")]);
    test.server.declareExchange('late', 'topic');
    await test.pass(200);
    expect(events.at(-1)).toBe('consuming');
  });

  it('warns of a dead-letter exchange that does not exist', async () => {
    const queueOptions = { deadLetterExchange: 'nowhere' };
    const { lines } = await consumerOf(new ServerUnderTest(), { queue: 'billing', queueOptions });
    expect(lines).toEqual([
      expect.stringMatching(/^warn .*\[missing-exchange\] .*"nowhere" does not exist/),
    ]);
  });

  it('detects a queue that does not count redeliveries, whatever its subscription declares', async () => {
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
    expect(lines).toContainEqual(expect.stringMatching(/^error .*expected a quorum queue/));
  });

  it('leaves no timer after it is closed', async () => {
    const test = new ServerUnderTest();
    const { consumer, connection, events } = await consumerOf(test, { queue: 'billing' });
    connection.lose();
    expect(events).toEqual(['consuming', 'channelLost', 'reconnecting']);
    await consumer.close(1_000);
    await test.turn();
    expect(test.clock.nextAt).toBeUndefined();
    await test.pass(60_000);
    expect(events).toHaveLength(3);
  });
});
