import { beforeEach, describe, expect, it } from 'vitest';
import type { OutgoingMessage } from '../../../lib/delivery/republish';
import { RepublishChannel } from '../../../lib/rabbitmq/republish-channel';
import { FakeChannel } from './fakes';

const MESSAGE: OutgoingMessage = {
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

/** The results so far. */
async function resultsOf(...publishes: Promise<unknown>[]): Promise<unknown[]> {
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.all(publishes.map((one) => Promise.race([one, Promise.resolve('pending')])));
}

/** The number in the header of a published message. */
function numberOf(index: number): unknown {
  const publishes = raw.sent.filter(([method]) => method === 'publish');
  return (publishes[index]![4] as { headers: Record<string, unknown> }).headers['x-settle-copy'];
}

function returns(number: unknown): void {
  raw.emit('return', { properties: { headers: { 'x-settle-copy': number } } });
}

describe('publish', () => {
  it('publishes a mandatory message to the default exchange, with a number of its own', () => {
    void channel.publish('billing', MESSAGE);
    void channel.publish('billing', MESSAGE);
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

  it('resolves with confirmed once the broker confirms', async () => {
    const publish = channel.publish('billing', MESSAGE);
    expect(await resultsOf(publish)).toEqual(['pending']);
    raw.confirms[0]!(null);
    expect(await publish).toBe('confirmed');
  });

  it('resolves with refused if the broker nacks', async () => {
    const publish = channel.publish('billing', MESSAGE);
    raw.confirms[0]!(new Error('message nacked'));
    expect(await publish).toBe('refused');
  });

  it('resolves with returned for a returned message, despite its confirm', async () => {
    const publishes = [1, 2, 3].map(() => channel.publish('billing', MESSAGE));
    returns(numberOf(1));
    for (const confirm of raw.confirms) confirm(null);
    expect(await Promise.all(publishes)).toEqual(['confirmed', 'returned', 'confirmed']);
  });

  it.each([undefined, null, 'x', 99, { a: 1 }])(
    'ignores a return with number %j',
    async (number) => {
      const publish = channel.publish('billing', MESSAGE);
      returns(number);
      raw.emit('return', { properties: {} });
      raw.confirms[0]!(null);
      expect(await publish).toBe('confirmed');
    },
  );
});

describe('after the channel closed', () => {
  it('pending messages are unknown, also those that amqplib forgets', async () => {
    const publishes = [1, 2, 3].map(() => channel.publish('billing', MESSAGE));
    raw.confirms[1]!(null);
    raw.ends();
    expect(await resultsOf(...publishes)).toEqual(['unknown', 'confirmed', 'unknown']);
  });

  it('a later callback has no effect', async () => {
    const publish = channel.publish('billing', MESSAGE);
    raw.ends(new Error('404'));
    raw.confirms[0]!(null);
    expect(await publish).toBe('unknown');
  });

  it('a callback with the error of the close is not a confirm', async () => {
    const publish = channel.publish('billing', MESSAGE);
    raw.confirms[0]!(new Error('channel closed'));
    raw.ends();
    expect(await publish).not.toBe('confirmed');
  });

  it('nothing is published', async () => {
    raw.ends();
    expect(channel.isOpen).toBe(false);
    expect(await channel.publish('billing', MESSAGE)).toBe('unknown');
    expect(raw.sent).toEqual([]);
  });

  it('by close(), pending messages are unknown and a second close() does nothing', async () => {
    const publish = channel.publish('billing', MESSAGE);
    await Promise.all([channel.close(), channel.close()]);
    expect(await publish).toBe('unknown');
    expect(raw.sent.filter(([method]) => method === 'close')).toHaveLength(1);
  });

  it('close() does not reject', async () => {
    raw.answers.set('close', () => Promise.reject(new Error('Channel closed')));
    await expect(channel.close()).resolves.toBeUndefined();
  });
});

it('an unencodable message closes the channel, since later confirms would be shifted', async () => {
  const earlier = channel.publish('billing', MESSAGE);
  const publish = raw.publish.bind(raw);
  raw.publish = (...values) => {
    raw.confirms.push(values[4]); // amqplib registers the callback before it encodes.
    throw new TypeError('Unsupported type');
  };
  const unwritten = channel.publish('billing', MESSAGE);
  raw.publish = publish;
  const later = channel.publish('billing', MESSAGE);
  for (const confirm of raw.confirms) confirm(null);
  expect(await resultsOf(earlier, unwritten, later)).toEqual(['unknown', 'unencodable', 'unknown']);
  expect(raw.isOpen).toBe(false);
});

it('a message with circular headers is unencodable', async () => {
  const endless: Record<string, unknown> = {};
  endless['itself'] = endless;
  await expect(channel.publish('billing', { ...MESSAGE, headers: endless })).resolves.toBe(
    'unencodable',
  );
});
