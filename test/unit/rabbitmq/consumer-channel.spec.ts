import { beforeEach, describe, expect, it } from 'vitest';
import type { SettleAction } from '../../../lib/amqp/port';
import type { IncomingMessage } from '../../../lib/model/delivery';
import { type ChannelDelivery, ConsumerChannel } from '../../../lib/rabbitmq/consumer-channel';
import { Gate } from '../../support/eventually';
import { FakeClock } from '../../support/fake-clock';
import { aMessage } from '../fixtures';
import { type FakeChannel, FakeConnection } from './fakes';

const TERMS = { queue: 'billing', prefetch: 5, options: { noAck: false }, isDrained: false };

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

function handOut(count: number): ChannelDelivery[] {
  return Array.from({ length: count }, (_, index) => {
    const message = aMessage({ deliveryTag: index + 1 });
    const delivery = { tag: index + 1, message, previous: undefined, next: undefined };
    channel.arrived(delivery);
    return delivery;
  });
}

/** What the channel was made to send since it consumes, once the turn has ended. */
async function sent(): Promise<unknown[]> {
  await clock.endTurn();
  return raw.sent.filter(([method]) => method !== 'prefetch' && method !== 'consume');
}

describe('settling', () => {
  it.each<[SettleAction, unknown[]]>([
    ['ack', ['ack', 1, false]],
    ['reject', ['reject', 1, false]],
    ['requeueFailed', ['reject', 1, true]],
    ['requeueUnprocessed', ['nack', 1, false, true]],
  ])('%s is one frame for the one delivery', async (frame, expected) => {
    const written: boolean[] = [];
    const [delivery] = handOut(2);
    channel.settle(delivery!, frame, (one) => written.push(one));
    expect(await sent()).toEqual([expected]);
    expect(written).toEqual([true]);
  });

  it.each<SettleAction>(['ack', 'reject', 'requeueFailed', 'requeueUnprocessed'])(
    '%s is given the delivered message, by which instrumentations know it',
    async (action) => {
      const [delivery] = handOut(1);
      channel.settle(delivery!, action, () => undefined);
      await clock.endTurn();
      expect(raw.settled).toEqual([delivery!.message]);
      expect(raw.settled[0]).toBe(delivery!.message);
    },
  );

  it('one acknowledgement of several is given the last of their messages', async () => {
    const deliveries = handOut(3);
    for (const index of [2, 0, 1]) channel.settle(deliveries[index]!, 'ack', () => undefined);
    await clock.endTurn();
    expect(raw.settled).toHaveLength(1);
    expect(raw.settled[0]).toBe(deliveries[2]!.message);
  });

  it.each<[string, (message: IncomingMessage) => void]>([
    ['changed the tag of', (message) => Object.assign(message.fields, { deliveryTag: 2 })],
    ['taken the fields of', (message) => Object.assign(message, { fields: undefined })],
  ])('settles the delivery also after a handler has %s its message', async (_what, change) => {
    const [first] = handOut(2);
    change(first!.message);
    channel.settle(first!, 'reject', () => undefined);
    expect(await sent()).toEqual([['reject', 1, false]]);
  });

  it('touches only the delivery that was decided, with others in flight', async () => {
    const deliveries = handOut(5);
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
    '%s after the channel has closed sends nothing and says so',
    async (frame) => {
      const written: boolean[] = [];
      const [delivery] = handOut(1);
      raw.ends();
      channel.settle(delivery!, frame, (one) => written.push(one));
      expect(await sent()).toEqual([]);
      expect(written).toEqual([false]);
    },
  );

  it.each<SettleAction>(['ack', 'reject', 'requeueFailed', 'requeueUnprocessed'])(
    '%s where amqplib throws before it has told of the end is not written, and does not throw',
    async (frame) => {
      const written: boolean[] = [];
      const [delivery] = handOut(1);
      raw.isOpen = false;
      channel.settle(delivery!, frame, (one) => written.push(one));
      await clock.endTurn();
      expect(written).toEqual([false]);
    },
  );

  it('an acknowledgement whose channel closes within the turn is not written', async () => {
    const written: boolean[] = [];
    const [delivery] = handOut(1);
    channel.settle(delivery!, 'ack', (one) => written.push(one));
    raw.ends(new Error('406'));
    expect(await sent()).toEqual([]);
    expect(written).toEqual([false]);
  });
});

describe('the end of a channel', () => {
  it('tells the reason that the broker gave', async () => {
    const reason = new Error('PRECONDITION_FAILED');
    raw.ends(reason);
    expect(await channel.ended).toBe(reason);
    expect(channel.lost.aborted).toBe(true);
    expect(channel.isOpen).toBe(false);
  });

  it('has a reason also where nobody gave one', async () => {
    raw.ends();
    expect((await channel.ended).message).toMatch(/channel closed/);
  });

  it('by a cancel of the server writes what is pending, then closes the channel', async () => {
    await channel.consume(TERMS);
    const deliveries = handOut(2);
    const written: boolean[] = [];
    channel.settle(deliveries[0]!, 'ack', (one) => written.push(one));
    raw.consumer(null);
    channel.settle(deliveries[1]!, 'ack', (one) => written.push(one));
    expect((await channel.ended).message).toMatch(/cancelled the consumer of queue "billing"/);
    expect(await sent()).toEqual([['ack', 1, false], ['close']]);
    expect(written).toEqual([true, false]);
    expect(channel.isConsuming).toBe(false);
  });

  it.each([true, false])(
    'asks about its queue before it closes, where that is to be drained: %s',
    async (isDrained) => {
      await channel.consume({ ...TERMS, isDrained });
      raw.sent.length = 0;
      const closing = channel.close(1_000);
      await clock.pass(100);
      await closing;
      const asked = raw.sent.filter(([method]) => method === 'checkQueue');
      expect(asked).toHaveLength(isDrained ? 4 : 0);
      expect(raw.sent.at(-1)).toEqual(['close']);
    },
  );

  it('hands nothing over any more', async () => {
    await channel.consume(TERMS);
    raw.consumer(aMessage());
    raw.ends();
    raw.consumer(aMessage());
    expect(arrived).toHaveLength(1);
  });

  it('is no fault of fifty copies that wait for it', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warned);
    for (let copy = 0; copy < 50; copy += 1) {
      channel.lost.addEventListener('abort', () => undefined);
    }
    await clock.endTurn();
    process.removeListener('warning', warned);
    expect(warnings).toEqual([]);
  });
});

describe('consuming', () => {
  it('sets its own prefetch first', async () => {
    await channel.consume(TERMS);
    expect(raw.sent).toEqual([
      ['prefetch', 5],
      ['consume', 'billing', { noAck: false }],
    ]);
    expect(channel.isConsuming).toBe(true);
  });

  it('rejects with what the broker answers', async () => {
    const refusal = new Error('404');
    raw.answers.set('consume', () => Promise.reject(refusal));
    await expect(channel.consume(TERMS)).rejects.toBe(refusal);
    expect(channel.isConsuming).toBe(false);
  });

  it('is cancelled once, whoever asks', async () => {
    await channel.consume(TERMS);
    await Promise.all([channel.cancel(), channel.cancel()]);
    expect(await sent()).toEqual([['cancel', 'tag']]);
  });

  it('hands over what comes before the cancel is confirmed', async () => {
    await channel.consume(TERMS);
    const confirmed = new Gate();
    raw.answers.set('cancel', () => confirmed.promise);
    const cancelled = channel.cancel();
    raw.consumer(aMessage());
    confirmed.open();
    await cancelled;
    expect(arrived).toHaveLength(1);
  });

  it('a cancel does not reject where the channel goes first', async () => {
    await channel.consume(TERMS);
    raw.answers.set('cancel', () => Promise.reject(new Error('Channel ended')));
    await expect(channel.cancel()).resolves.toBeUndefined();
  });
});

describe('closing', () => {
  it('writes the pending acknowledgements before the round trip', async () => {
    const [first, second] = handOut(2);
    const written: boolean[] = [];
    channel.settle(first!, 'ack', (one) => written.push(one));
    channel.settle(second!, 'ack', (one) => written.push(one));
    await channel.close(1_000);
    expect(raw.sent).toEqual([['ack', 2, true], ['close']]);
    expect(written).toEqual([true, true]);
    expect(clock.pending).toEqual([]);
  });

  it('resolves with the answer, and no sooner', async () => {
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

  it.each(['the time limit', 'the connection'])(
    'is ended by %s where no answer comes',
    async (by) => {
      raw.answers.set('close', () => new Promise(() => undefined));
      const closing = channel.close(1_000);
      if (by === 'the connection') raw.ends();
      else await clock.pass(1_000);
      await closing;
      expect(channel.isOpen).toBe(false);
      expect(clock.pending).toEqual([]);
    },
  );

  it('a second time does nothing', async () => {
    await channel.close(1_000);
    await channel.close(1_000);
    expect(raw.sent).toEqual([['close']]);
  });
});
