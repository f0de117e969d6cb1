import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { OutgoingMessage } from '../../../lib/delivery/republish';
import { RepublishChannel } from '../../../lib/rabbitmq/republish-channel';
import { FakeClock } from '../../support/fake-clock';
import { FakeChannel } from './fakes';

const MESSAGE: OutgoingMessage = {
  body: Buffer.from('{}'),
  properties: { messageId: 'm1' },
  headers: { 'x-settle-attempt': 2 },
};
const NO_ROUTE = { replyCode: 312, replyText: 'NO_ROUTE' };

let clock: FakeClock;
let lost: AbortController;
let raw: FakeChannel;
let channel: RepublishChannel;
let connectionError: unknown;

function open(isAlone: boolean): RepublishChannel {
  return new RepublishChannel(
    raw.asRaw,
    { isAlone, connectionError: () => connectionError },
    clock,
  );
}

const limits = () => ({ limitMs: 30_000, lost: lost.signal });

beforeEach(() => {
  clock = new FakeClock();
  lost = new AbortController();
  raw = new FakeChannel();
  connectionError = undefined;
  channel = open(false);
});

/** How the publishes have ended so far. */
async function endsOf(...publishes: Promise<{ status: string }>[]): Promise<string[]> {
  await new Promise((resolve) => setImmediate(resolve));
  const pending = Promise.resolve({ status: 'pending' });
  const ends = await Promise.all(publishes.map((one) => Promise.race([one, pending])));
  return ends.map(({ status }) => status);
}

/** The number that the publish of this index carries. */
function numberOf(index: number): unknown {
  const publishes = raw.sent.filter(([method]) => method === 'publish');
  return (publishes[index]![4] as { headers: Record<string, unknown> }).headers['x-settle-copy'];
}

function returns(number: unknown): void {
  raw.emit('return', { fields: NO_ROUTE, properties: { headers: { 'x-settle-copy': number } } });
}

describe('publish', () => {
  it('publishes a mandatory message through the default exchange, with a number of its own', () => {
    void channel.publish('billing', MESSAGE, limits());
    void channel.publish('billing', MESSAGE, limits());
    expect(raw.sent[0]).toEqual([
      'publish',
      '',
      'billing',
      MESSAGE.body,
      {
        messageId: 'm1',
        mandatory: true,
        headers: { 'x-settle-attempt': 2, 'x-settle-copy': numberOf(0) },
      },
    ]);
    expect(numberOf(0)).not.toBe(numberOf(1));
  });

  it('ends as confirmed when the broker has confirmed it, and no sooner', async () => {
    const publish = channel.publish('billing', MESSAGE, limits());
    expect(await endsOf(publish)).toEqual(['pending']);
    raw.confirms[0]!(null);
    expect(await publish).toEqual({ status: 'confirmed' });
  });

  it('ends as refused after a nack', async () => {
    const publish = channel.publish('billing', MESSAGE, limits());
    raw.confirms[0]!(new Error('message nacked'));
    expect(await publish).toEqual({ status: 'refused' });
  });

  it('ends as returned, with the reply of the broker, although the broker confirms it', async () => {
    const publishes = [1, 2, 3].map(() => channel.publish('billing', MESSAGE, limits()));
    returns(numberOf(1));
    for (const confirm of raw.confirms) confirm(null);
    expect(await Promise.all(publishes)).toEqual([
      { status: 'confirmed' },
      { status: 'returned', ...NO_ROUTE },
      { status: 'confirmed' },
    ]);
  });

  it.each([undefined, null, 'x', 99, { a: 1 }])('ignores a return of number %j', async (number) => {
    const publish = channel.publish('billing', MESSAGE, limits());
    returns(number);
    raw.emit('return', { properties: {} });
    raw.confirms[0]!(null);
    expect(await publish).toEqual({ status: 'confirmed' });
  });
});

describe('a publish without a reply', () => {
  const publish = (limitMs: number) =>
    channel.publish('billing', MESSAGE, { limitMs, lost: lost.signal });

  it('ends as unconfirmed at its own limit, and a late confirm changes nothing', async () => {
    const publishes = [publish(300), publish(100), publish(200)];
    const ends: string[][] = [await endsOf(...publishes)];
    for (let passed = 0; passed < 3; passed += 1) {
      await clock.pass(100);
      ends.push(await endsOf(...publishes));
    }
    const [pending, unconfirmed] = ['pending', 'unconfirmed'];
    expect(ends).toEqual([
      [pending, pending, pending],
      [pending, unconfirmed, pending],
      [pending, unconfirmed, unconfirmed],
      [unconfirmed, unconfirmed, unconfirmed],
    ]);
    for (const confirm of raw.confirms) confirm(null);
    expect(await endsOf(...publishes)).toEqual(ends[3]);
    expect(clock.pending).toEqual([]);
  });

  it('ends as unconfirmed once its delivery is lost, and others stay pending', async () => {
    const other = channel.publish('billing', MESSAGE, {
      limitMs: 100,
      lost: new AbortController().signal,
    });
    const publishes = [publish(100), publish(100), other];
    lost.abort();
    expect(await endsOf(...publishes)).toEqual(['unconfirmed', 'unconfirmed', 'pending']);
    expect(await endsOf(publish(100))).toEqual(['unconfirmed']);
  });

  it('shares one timer and one listener with all others, and the close removes both', async () => {
    const [added, removed] = ['addEventListener', 'removeEventListener'].map((name) =>
      vi.spyOn(lost.signal, name as 'addEventListener'),
    );
    for (let count = 0; count < 250; count += 1) void publish(30_000);
    expect(clock.pending).toHaveLength(1);
    expect(added).toHaveBeenCalledTimes(1);
    raw.ends();
    expect(clock.pending).toEqual([]);
    expect(removed).toHaveBeenCalledTimes(1);
  });
});

describe('when the channel closes', () => {
  it('ends every pending publish, also those whose callback amqplib forgets', async () => {
    const publishes = [1, 2, 3].map(() => channel.publish('billing', MESSAGE, limits()));
    raw.confirms[1]!(null);
    raw.ends();
    expect(await endsOf(...publishes)).toEqual(['closed', 'confirmed', 'closed']);
  });

  it.each([true, false])('says why, and whether the message was alone: %s', async (isAlone) => {
    channel = open(isAlone);
    const publish = channel.publish('billing', MESSAGE, limits());
    void channel.publish('billing', MESSAGE, limits());
    const error = new Error('406');
    raw.ends(error);
    expect(await publish).toEqual({ status: 'closed', error, isAlone });
  });

  it('knows that a message was alone if everything else was confirmed when its channel failed', async () => {
    const first = channel.publish('billing', MESSAGE, limits());
    const second = channel.publish('billing', MESSAGE, limits());
    raw.confirms[0]!(null);
    raw.ends(new Error('406'));
    expect(await first).toEqual({ status: 'confirmed' });
    expect(await second).toMatchObject({ status: 'closed', isAlone: true });
  });

  it('does not know that while an earlier publish is unanswered, although nobody waits for it', async () => {
    const givenUp = channel.publish('billing', MESSAGE, { limitMs: 10, lost: lost.signal });
    await clock.pass(10);
    const publish = channel.publish('billing', MESSAGE, limits());
    raw.ends(new Error('406'));
    expect(await endsOf(givenUp)).toEqual(['unconfirmed']);
    expect(await publish).toMatchObject({ status: 'closed', isAlone: false });
  });

  it('does not know that if the connection failed', async () => {
    const publish = channel.publish('billing', MESSAGE, limits());
    connectionError = new Error('541');
    raw.ends();
    expect(await publish).toMatchObject({ status: 'closed', isAlone: false });
  });

  it('says why its connection has closed, which the connection says last', async () => {
    const publish = channel.publish('billing', MESSAGE, limits());
    raw.ends();
    connectionError = new Error('541');
    expect(await publish).toMatchObject({ status: 'closed', error: connectionError });
  });

  it('takes the callback of amqplib for the close, not for a nack', async () => {
    raw.on('close', () => raw.confirms[0]!(new Error('channel closed')));
    const publish = channel.publish('billing', MESSAGE, limits());
    raw.ends(new Error('403'));
    expect(await publish).toMatchObject({ status: 'closed', error: new Error('403') });
  });

  it('publishes nothing any more, and throws', async () => {
    raw.ends(new Error('403'));
    expect(channel.isUsable).toBe(false);
    expect(() => channel.publish('billing', MESSAGE, limits())).toThrow('403');
    expect(raw.sent).toEqual([]);
  });

  it('throws if amqplib already refuses to write', async () => {
    raw.publish = () => {
      throw Object.assign(new Error('Channel closing'), { name: 'IllegalOperationError' });
    };
    expect(() => channel.publish('billing', MESSAGE, limits())).toThrow('Channel closing');
    expect(channel.isUsable).toBe(false);
  });

  it('closes once by its own close(), which ends what is pending', async () => {
    const publish = channel.publish('billing', MESSAGE, limits());
    await Promise.all([channel.close(), channel.close()]);
    expect(await publish).toMatchObject({ status: 'closed' });
    expect(raw.sent.filter(([method]) => method === 'close')).toHaveLength(1);
  });

  it('does not reject a close that comes too late', async () => {
    raw.answers.set('close', () => Promise.reject(new Error('Channel closed')));
    await expect(channel.close()).resolves.toBeUndefined();
  });
});

it('closes the channel over a message that amqplib cannot encode: later confirms would be one off', async () => {
  const earlier = channel.publish('billing', MESSAGE, limits());
  raw.publish = (...values) => {
    raw.confirms.push(values[4]); // amqplib counts the callback in before it encodes.
    throw new TypeError('Unsupported type');
  };
  const unwritten = channel.publish('billing', MESSAGE, limits());
  for (const confirm of raw.confirms) confirm(null);
  expect(await endsOf(earlier, unwritten)).toEqual(['closed', 'unencodable']);
  expect(raw.isOpen).toBe(false);
});

it('is not used again once it has refused a message, and closes when nothing is left to be confirmed', async () => {
  const first = channel.publish('queue', MESSAGE, limits());
  const second = channel.publish('queue', MESSAGE, limits());
  raw.confirms[0]?.(new Error('message nacked'));
  expect(await endsOf(first)).toEqual(['refused']);
  expect([channel.isUsable, raw.isOpen]).toEqual([false, true]);
  raw.confirms[1]?.(null);
  expect(await endsOf(second)).toEqual(['confirmed']);
  expect(raw.isOpen).toBe(false);
});
