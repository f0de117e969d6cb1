import { beforeEach, describe, expect, it } from 'vitest';
import type { OutgoingMessage } from '../../../lib/delivery/republish';
import { RepublishChannel } from '../../../lib/rabbitmq/republish-channel';
import { FakeChannel } from './fakes';

const COPY: OutgoingMessage = {
  body: Buffer.from('{}'),
  properties: { messageId: 'm1' },
  headers: { 'x-settle-attempt': 2 },
};

let raw: FakeChannel;
let channel: RepublishChannel;

beforeEach(() => {
  raw = new FakeChannel();
  channel = new RepublishChannel(raw.asRaw);
});

/** How the publishes have ended so far. */
async function endsOf(...publishes: Promise<unknown>[]): Promise<unknown[]> {
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.all(publishes.map((one) => Promise.race([one, Promise.resolve('pending')])));
}

/** The number that the publish of this index carries. */
function numberOf(index: number): unknown {
  const publishes = raw.sent.filter(([method]) => method === 'publish');
  return (publishes[index]![4] as { headers: Record<string, unknown> }).headers['x-settle-copy'];
}

function returns(number: unknown): void {
  raw.emit('return', { properties: { headers: { 'x-settle-copy': number } } });
}

describe('a copy', () => {
  it('goes mandatory through the default exchange, with a number of its own', () => {
    void channel.publish('billing', COPY);
    void channel.publish('billing', COPY);
    expect(raw.sent[0]).toEqual([
      'publish',
      '',
      'billing',
      COPY.body,
      {
        messageId: 'm1',
        mandatory: true,
        headers: { 'x-settle-attempt': 2, 'x-settle-copy': numberOf(0) },
      },
    ]);
    expect(numberOf(0)).not.toBe(numberOf(1));
  });

  it('is sent when the broker has confirmed it, and no sooner', async () => {
    const publish = channel.publish('billing', COPY);
    expect(await endsOf(publish)).toEqual(['pending']);
    raw.confirms[0]!(null);
    expect(await publish).toBe('confirmed');
  });

  it('is refused where the broker says no', async () => {
    const publish = channel.publish('billing', COPY);
    raw.confirms[0]!(new Error('message nacked'));
    expect(await publish).toBe('refused');
  });

  it('is returned where no queue took it, whatever the confirm says', async () => {
    const publishes = [1, 2, 3].map(() => channel.publish('billing', COPY));
    returns(numberOf(1));
    for (const confirm of raw.confirms) confirm(null);
    expect(await Promise.all(publishes)).toEqual(['confirmed', 'returned', 'confirmed']);
  });

  it.each([undefined, null, 'x', 99, { a: 1 }])(
    'is not confused by a return with number %j',
    async (number) => {
      const publish = channel.publish('billing', COPY);
      returns(number);
      raw.emit('return', { properties: {} });
      raw.confirms[0]!(null);
      expect(await publish).toBe('confirmed');
    },
  );
});

describe('when the channel closes', () => {
  it('every pending copy is unknown, also those that amqplib forgets', async () => {
    const publishes = [1, 2, 3].map(() => channel.publish('billing', COPY));
    raw.confirms[1]!(null);
    raw.ends();
    expect(await endsOf(...publishes)).toEqual(['unknown', 'confirmed', 'unknown']);
  });

  it('a callback that comes afterwards changes nothing', async () => {
    const publish = channel.publish('billing', COPY);
    raw.ends(new Error('404'));
    raw.confirms[0]!(null);
    expect(await publish).toBe('unknown');
  });

  it('a callback with the error of the close, before the close is told, is no confirm', async () => {
    const publish = channel.publish('billing', COPY);
    raw.confirms[0]!(new Error('channel closed'));
    raw.ends();
    expect(await publish).not.toBe('confirmed');
  });

  it('a copy that comes later is not published', async () => {
    raw.ends();
    expect(channel.isOpen).toBe(false);
    expect(await channel.publish('billing', COPY)).toBe('unknown');
    expect(raw.sent).toEqual([]);
  });

  it('by us, it is closed once, and what is pending is unknown', async () => {
    const publish = channel.publish('billing', COPY);
    await Promise.all([channel.close(), channel.close()]);
    expect(await publish).toBe('unknown');
    expect(raw.sent.filter(([method]) => method === 'close')).toHaveLength(1);
  });

  it('a close that is too late does not reject', async () => {
    raw.answers.set('close', () => Promise.reject(new Error('Channel closed')));
    await expect(channel.close()).resolves.toBeUndefined();
  });
});

it('a copy that can not be written takes the channel with it: later confirms would be one off', async () => {
  const earlier = channel.publish('billing', COPY);
  const publish = raw.publish.bind(raw);
  raw.publish = (...values) => {
    raw.confirms.push(values[4]); // amqplib counts the callback in before it encodes.
    throw new TypeError('Unsupported type');
  };
  const unwritten = channel.publish('billing', COPY);
  raw.publish = publish;
  const later = channel.publish('billing', COPY);
  for (const confirm of raw.confirms) confirm(null);
  expect(await endsOf(earlier, unwritten, later)).toEqual(['unknown', 'unencodable', 'unknown']);
  expect(raw.isOpen).toBe(false);
});

it('a copy whose headers have no end is unencodable, and never rejects', async () => {
  const endless: Record<string, unknown> = {};
  endless['itself'] = endless;
  await expect(channel.publish('billing', { ...COPY, headers: endless })).resolves.toBe(
    'unencodable',
  );
});
