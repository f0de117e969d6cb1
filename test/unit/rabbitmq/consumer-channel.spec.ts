import { beforeEach, describe, expect, it } from 'vitest';
import type { SettleAction } from '../../../lib/amqp/port';
import type { IncomingMessage } from '../../../lib/model/delivery';
import type { ChannelDelivery } from '../../../lib/rabbitmq/channel-delivery';
import { ConsumerChannel } from '../../../lib/rabbitmq/consumer-channel';
import { Gate } from '../../support/eventually';
import { FakeClock } from '../../support/fake-clock';
import { aMessage } from '../fixtures';
import { type FakeChannel, FakeConnection } from './fakes';

const OPTIONS = { queue: 'billing', prefetch: 5, options: { noAck: false }, isDrained: false };

let clock: FakeClock;
let raw: FakeChannel;
let channel: ConsumerChannel;
let arrived: unknown[];

beforeEach(async () => {
  clock = new FakeClock();
  arrived = [];
  const connection = new FakeConnection();
  channel = await ConsumerChannel.open(connection.asRaw, (message) => arrived.push(message), clock);
  raw = connection.channels[0]!;
});

function deliver(count: number): ChannelDelivery[] {
  return Array.from({ length: count }, (_, index) => {
    const message = aMessage({ deliveryTag: index + 1 });
    const delivery = { tag: index + 1, message, previous: undefined, next: undefined };
    channel.arrived(delivery);
    return delivery;
  });
}

/** What was sent since it consumes, after the end of the turn. */
async function sent(): Promise<unknown[]> {
  await clock.endTurn();
  return raw.sent.filter(([method]) => method !== 'prefetch' && method !== 'consume');
}

describe('settle', () => {
  it.each<[SettleAction, unknown[]]>([
    ['ack', ['ack', 1, false]],
    ['reject', ['reject', 1, false]],
    ['requeueFailed', ['reject', 1, true]],
    ['requeueUnprocessed', ['nack', 1, false, true]],
  ])('sends one frame for one delivery: %s', async (action, expected) => {
    const written: boolean[] = [];
    const [delivery] = deliver(2);
    channel.settle(delivery!, action, (one) => written.push(one));
    expect(await sent()).toEqual([expected]);
    expect(written).toEqual([true]);
  });

  it.each<SettleAction>(['ack', 'reject', 'requeueFailed', 'requeueUnprocessed'])(
    'passes the delivered message to amqplib, as instrumentations expect: %s',
    async (action) => {
      const [delivery] = deliver(1);
      channel.settle(delivery!, action, () => undefined);
      await clock.endTurn();
      expect(raw.settled).toEqual([delivery!.message]);
      expect(raw.settled[0]).toBe(delivery!.message);
    },
  );

  it('passes the last message for an acknowledgement of several', async () => {
    const deliveries = deliver(3);
    for (const index of [2, 0, 1]) channel.settle(deliveries[index]!, 'ack', () => undefined);
    await clock.endTurn();
    expect(raw.settled).toHaveLength(1);
    expect(raw.settled[0]).toBe(deliveries[2]!.message);
  });

  it.each<[string, (message: IncomingMessage) => void]>([
    ['changed the delivery tag of', (message) => Object.assign(message.fields, { deliveryTag: 2 })],
    ['removed the fields of', (message) => Object.assign(message, { fields: undefined })],
  ])('settles the delivery even if the handler %s its message', async (_what, change) => {
    const [first] = deliver(2);
    change(first!.message);
    channel.settle(first!, 'reject', () => undefined);
    expect(await sent()).toEqual([['reject', 1, false]]);
  });

  it('settles only that delivery, with others in flight', async () => {
    const deliveries = deliver(5);
    channel.settle(deliveries[2]!, 'reject', () => undefined);
    expect(await sent()).toEqual([['reject', 3, false]]);
    for (const tag of [1, 2, 4, 5]) {
      channel.settle(deliveries[tag - 1]!, 'ack', () => undefined);
    }
    expect(await sent()).toEqual([
      ['reject', 3, false],
      ['ack', 5, true],
    ]);
  });

  it.each<SettleAction>(['ack', 'reject', 'requeueFailed', 'requeueUnprocessed'])(
    'sends nothing and reports false after the channel closed: %s',
    async (action) => {
      const written: boolean[] = [];
      const [delivery] = deliver(1);
      raw.ends();
      channel.settle(delivery!, action, (one) => written.push(one));
      expect(await sent()).toEqual([]);
      expect(written).toEqual([false]);
    },
  );

  it.each<SettleAction>(['ack', 'reject', 'requeueFailed', 'requeueUnprocessed'])(
    'reports false if amqplib throws before it reports the close: %s',
    async (action) => {
      const written: boolean[] = [];
      const [delivery] = deliver(1);
      raw.isOpen = false;
      channel.settle(delivery!, action, (one) => written.push(one));
      await clock.endTurn();
      expect(written).toEqual([false]);
    },
  );

  it('reports false for an acknowledgement if the channel closes within the turn', async () => {
    const written: boolean[] = [];
    const [delivery] = deliver(1);
    channel.settle(delivery!, 'ack', (one) => written.push(one));
    raw.ends(new Error('406'));
    expect(await sent()).toEqual([]);
    expect(written).toEqual([false]);
  });
});

describe('the close of a channel', () => {
  it('has the reason of the broker', async () => {
    const reason = new Error('PRECONDITION_FAILED');
    raw.ends(reason);
    expect(await channel.ended).toBe(reason);
    expect(channel.lost.aborted).toBe(true);
    expect(channel.isOpen).toBe(false);
  });

  it('has a default reason', async () => {
    raw.ends();
    expect((await channel.ended).message).toMatch(/channel closed/);
  });

  it('after a server cancel sends pending acknowledgements first', async () => {
    await channel.consume(OPTIONS);
    const deliveries = deliver(2);
    const written: boolean[] = [];
    channel.settle(deliveries[0]!, 'ack', (one) => written.push(one));
    raw.consumer(null);
    channel.settle(deliveries[1]!, 'ack', (one) => written.push(one));
    expect((await channel.ended).message).toMatch(/cancelled the consumer of queue "billing"/);
    expect(await sent()).toEqual([['ack', 1, false], ['close']]);
    expect(written).toEqual([true, false]);
    expect(channel.isConsuming).toBe(false);
  });

  it.each([true, false])('drains its queue first if that is required: %s', async (isDrained) => {
    await channel.consume({ ...OPTIONS, isDrained });
    raw.sent.length = 0;
    const closing = channel.close(1_000);
    await clock.pass(100);
    await closing;
    const asked = raw.sent.filter(([method]) => method === 'checkQueue');
    expect(asked).toHaveLength(isDrained ? 4 : 0);
    expect(raw.sent.at(-1)).toEqual(['close']);
  });

  it('stops deliveries', async () => {
    await channel.consume(OPTIONS);
    raw.consumer(aMessage());
    raw.ends();
    raw.consumer(aMessage());
    expect(arrived).toHaveLength(1);
  });

  it('can have fifty listeners without a warning', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warned);
    for (let count = 0; count < 50; count += 1) {
      channel.lost.addEventListener('abort', () => undefined);
    }
    await clock.endTurn();
    process.removeListener('warning', warned);
    expect(warnings).toEqual([]);
  });
});

describe('consume', () => {
  it('sets the prefetch first', async () => {
    await channel.consume(OPTIONS);
    expect(raw.sent).toEqual([
      ['prefetch', 5],
      ['consume', 'billing', { noAck: false }],
    ]);
    expect(channel.isConsuming).toBe(true);
  });

  it('rejects with the error of the broker', async () => {
    const refusal = new Error('404');
    raw.answers.set('consume', () => Promise.reject(refusal));
    await expect(channel.consume(OPTIONS)).rejects.toBe(refusal);
    expect(channel.isConsuming).toBe(false);
  });

  it('is cancelled once by several calls', async () => {
    await channel.consume(OPTIONS);
    await Promise.all([channel.cancel(), channel.cancel()]);
    expect(await sent()).toEqual([['cancel', 'tag']]);
  });

  it('delivers messages until the cancel is confirmed', async () => {
    await channel.consume(OPTIONS);
    const confirmed = new Gate();
    raw.answers.set('cancel', () => confirmed.promise);
    const cancelled = channel.cancel();
    raw.consumer(aMessage());
    confirmed.open();
    await cancelled;
    expect(arrived).toHaveLength(1);
  });

  it('does not make cancel reject if the channel closes first', async () => {
    await channel.consume(OPTIONS);
    raw.answers.set('cancel', () => Promise.reject(new Error('Channel ended')));
    await expect(channel.cancel()).resolves.toBeUndefined();
  });
});

describe('close', () => {
  it('sends pending acknowledgements before the round trip', async () => {
    const [first, second] = deliver(2);
    const written: boolean[] = [];
    channel.settle(first!, 'ack', (one) => written.push(one));
    channel.settle(second!, 'ack', (one) => written.push(one));
    await channel.close(1_000);
    expect(raw.sent).toEqual([['ack', 2, true], ['close']]);
    expect(written).toEqual([true, true]);
    expect(clock.pending).toEqual([]);
  });

  it('resolves with the reply of the broker', async () => {
    const answered = new Gate();
    raw.answers.set('close', () => answered.promise);
    let closed = false;
    const closing = channel.close(1_000).then(() => {
      closed = true;
    });
    await clock.pass(999);
    expect(closed).toBe(false);
    answered.open();
    await closing;
  });

  it.each(['the time limit', 'the connection'])('ends with %s if there is no reply', async (by) => {
    raw.answers.set('close', () => new Promise(() => undefined));
    const closing = channel.close(1_000);
    if (by === 'the connection') raw.ends();
    else await clock.pass(1_000);
    await closing;
    expect(channel.isOpen).toBe(false);
    expect(clock.pending).toEqual([]);
  });

  it('does nothing the second time', async () => {
    await channel.close(1_000);
    await channel.close(1_000);
    expect(raw.sent).toEqual([['close']]);
  });
});
