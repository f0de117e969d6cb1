import type { Channel, ConsumeMessage } from 'amqplib';
import { describe, expect, it } from 'vitest';
import { Broker, openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { serverIs } from '../support/versions';

// What the server itself does, without any code of this package: docs/rabbitmq-versions.md relies on it.
const broker = await openBroker();
const tellsReturnsApart = serverIs({ from: '4.3' });
const hasDefaultLimit = serverIs({ from: '4.0' });

type Settle = (channel: Channel, message: ConsumeMessage) => unknown;

const nack: Settle = (channel, message) => channel.nack(message, false, true);
const reject: Settle = (channel, message) => channel.reject(message, true);

interface Seen {
  readonly redelivered: boolean;
  readonly counted: unknown;
  readonly acquired: unknown;
}

/** Properties of the deliveries of one message, up to a number; each delivery is settled in the same way. */
async function deliveriesOf(
  args: Readonly<Record<string, unknown>>,
  settle: Settle,
  most: number,
): Promise<Seen[]> {
  const queue = unique('fact');
  await broker.declare(queue, { arguments: args });
  await broker.send(queue, 'x');
  const seen: Seen[] = [];
  await broker.channel(async (channel) => {
    await channel.prefetch(1);
    await channel.consume(queue, (message) => {
      if (message === null) return;
      const headers = message.properties.headers ?? {};
      const { redelivered } = message.fields;
      const [counted, acquired] = [headers['x-delivery-count'], headers['x-acquired-count']];
      seen.push({ redelivered, counted, acquired });
      if (seen.length === most) channel.ack(message);
      else settle(channel, message);
    });
    await until(async () => seen.length === most || (await isGone(queue, seen.length)), {
      timeoutMs: 15_000,
    });
  });
  return seen;

  // Nothing ready, nothing unacknowledged: the requeued message was neither redelivered nor kept.
  async function isGone(name: string, before: number): Promise<boolean> {
    if (before === 0 || (await broker.ready(name)) !== 0) return false;
    await new Promise((resolve) => setTimeout(resolve, 500));
    return seen.length === before;
  }
}

const counts = (seen: readonly Seen[]): unknown[] => seen.map(({ counted }) => counted);
const quorum = { 'x-queue-type': 'quorum' };

describe('a quorum queue', () => {
  it('counts each reject that requeues', async () => {
    expect(counts(await deliveriesOf(quorum, reject, 4))).toEqual([undefined, 1, 2, 3]);
  });

  it('counts a nack that requeues before 4.3, but not since', async () => {
    const expected = tellsReturnsApart ? [undefined, undefined, undefined] : [undefined, 1, 2];
    expect(counts(await deliveriesOf(quorum, nack, 3))).toEqual(expected);
  });

  it('reports how often it has delivered a message, since 4.3', async () => {
    const acquired = (await deliveriesOf(quorum, nack, 3)).map((one) => one.acquired);
    expect(acquired).toEqual(tellsReturnsApart ? [undefined, 1, 2] : Array(3).fill(undefined));
  });

  it('deletes a message after 20 redeliveries since 4.0, and never before', async () => {
    const seen = await deliveriesOf(quorum, reject, 25);
    expect(seen).toHaveLength(hasDefaultLimit ? 21 : 25);
  });

  it('has no limit at -1 since 4.0; before, it deletes at the first redelivery', async () => {
    const seen = await deliveriesOf({ ...quorum, 'x-delivery-limit': -1 }, reject, 25);
    expect(seen).toHaveLength(hasDefaultLimit ? 25 : 1);
  });

  it('delivers a message once more than its limit', async () => {
    expect(await deliveriesOf({ ...quorum, 'x-delivery-limit': 2 }, reject, 9)).toHaveLength(3);
  });

  it('counts a closed channel', async () => {
    const queue = unique('fact');
    await broker.declare(queue, { arguments: quorum });
    await broker.send(queue, 'x');
    for (let lost = 0; lost < 3; lost += 1) {
      await broker.channel(async (channel) => {
        const message = await channel.get(queue);
        if (message === false) throw new Error('nothing there');
        expect(message.properties.headers?.['x-delivery-count'] ?? 0).toBe(lost);
      });
      await broker.waitForReady(queue, 1);
    }
  });
});

describe('a classic queue', () => {
  it.each([
    ['reject', reject],
    ['nack', nack],
  ])('does not count a %s: only the flag redelivered is set', async (_name, settle) => {
    const [first, ...later] = await deliveriesOf({}, settle, 25);
    expect(first).toEqual({ redelivered: false, counted: undefined, acquired: undefined });
    expect(later).toHaveLength(24);
    for (const one of later) expect(one).toEqual({ ...first, redelivered: true });
  });
});

it('a quorum queue delays rejected messages since 4.3, and ignores the arguments before', async () => {
  const delays = {
    'x-delayed-retry-type': 'failed',
    'x-delayed-retry-min': 300,
    'x-delayed-retry-max': 300,
  };
  const times: number[] = [];
  await deliveriesOf(
    { ...quorum, ...delays },
    (channel, message) => {
      times.push(performance.now());
      reject(channel, message);
    },
    3,
  );
  const [first = 0, second = 0] = times;
  if (tellsReturnsApart) expect(second - first).toBeGreaterThanOrEqual(298);
  else expect(second - first).toBeLessThan(250);
});

it('a message of 17 MiB is accepted before 4.0, and closes the channel since', async () => {
  const queue = unique('fact');
  await broker.declare(queue);
  const own = await Broker.connect();
  const published = own.send(queue, Buffer.alloc(17 * 1024 * 1024));
  if (hasDefaultLimit) {
    await expect(published).rejects.toThrow();
    expect(await broker.ready(queue)).toBe(0);
  } else {
    await published;
    expect(await broker.ready(queue)).toBe(1);
  }
  await own.close();
});

it('a deprecated feature is permitted before 4.3, and closes the connection since', async () => {
  const own = await Broker.connect();
  const args = { 'x-queue-master-locator': 'min-masters' };
  const declared = own.declare(unique('fact'), { arguments: args });
  if (tellsReturnsApart) {
    await expect(declared).rejects.toThrow();
    await expect(own.declare(unique('fact'))).rejects.toThrow();
  } else {
    await declared;
  }
  await own.close();
});

describe('the x-death header of a message that a client publishes', () => {
  it('is continued before 4.0, and started over since', async () => {
    const queue = unique('history');
    const target = `${queue}.target`;
    await broker.declare(target);
    const route = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': target };
    await broker.declare(queue, { arguments: { ...route, 'x-message-ttl': 1 } });
    const death = { queue, reason: 'expired', count: 7, exchange: '', 'routing-keys': [queue] };
    await broker.send(queue, 'x', { headers: { 'x-death': [death] } });
    const { properties } = await broker.take(target);
    expect(properties.headers?.['x-death']).toMatchObject([{ count: hasDefaultLimit ? 1 : 8 }]);
  });
});
