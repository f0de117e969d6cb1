import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import type { DeliveryRecord } from '../../../lib/delivery/delivery-record';
import { ack, type Outcome } from '../../../lib/model/outcome';
import { decodeJson, decodeStage } from '../../../lib/pipeline/decode';
import { HandlerFailure } from '../../../lib/pipeline/handler-failure';
import { aDelivery, aMessage, oddValues, rethrowing } from '../fixtures';

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

function decoded(
  content: string | Buffer,
  contentEncoding?: unknown,
  allowNonJson = false,
): unknown {
  return decodeJson(aMessage({ content, properties: { contentEncoding } }), allowNonJson);
}

describe('the default decoder', () => {
  it.each<[string, string, unknown]>([
    ['an object', ' { "a" : [1, "ü"] } ', { a: [1, 'ü'] }],
    ['null', 'null', null],
    ['false', 'false', false],
    ['0', '0', 0],
    ['the empty text', '""', ''],
    ['a text', '"漢😀"', '漢😀'],
    ['a list', '[]', []],
  ])('reads %s as a payload', (_name, content, payload) => {
    expect(decoded(content)).toEqual(payload);
  });

  it('takes an empty body for the payload undefined', () => {
    expect(decoded('')).toBeUndefined();
    expect(decoded('', undefined, true)).toBeUndefined();
  });

  it('skips a byte order mark, and only one at the beginning', () => {
    expect(decoded(Buffer.concat([BOM, Buffer.from('{"a":1}')]))).toEqual({ a: 1 });
    expect(decoded(Buffer.concat([BOM, Buffer.from('text')]), undefined, true)).toBe('text');
    expect(() => decoded(Buffer.concat([BOM, BOM, Buffer.from('{}')]))).toThrow(SyntaxError);
    expect(decoded(Buffer.concat([Buffer.from('"'), BOM, Buffer.from('"')]))).toBe('\uFEFF');
  });

  it.each(['{"a":1', 'abc', "{'a':1}", 'undefined', 'NaN', ' ', '{}{}', '01', 'null,'])(
    'refuses %s, which is no JSON',
    (content) => {
      expect(() => decoded(content)).toThrow(SyntaxError);
    },
  );

  it.each<[string, Buffer]>([
    ['a byte that no character has', Buffer.from([0x22, 0xff, 0x22])],
    ['a character that is cut', Buffer.from('"ü').subarray(0, 2)],
    ['half of a pair', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['Latin-1', Buffer.from('"ü"', 'latin1')],
    ['UTF-16', Buffer.from('{"a":"ü"}', 'utf16le')],
    ['gzip that nobody has announced', gzipSync('{"a":1}')],
  ])('refuses %s instead of reading replacement characters', (_name, content) => {
    expect(() => decoded(content)).toThrow();
    expect(() => decoded(content, undefined, true)).toThrow();
  });

  it('reads a replacement character that was sent as one', () => {
    expect(decoded('"\uFFFD"')).toBe('\uFFFD');
  });

  it.each([undefined, null, '', 'identity', 'utf-8', 'UTF-8', 'utf8', 'Utf8', 'us-ascii'])(
    'takes the content encoding %s for plain text',
    (encoding) => {
      expect(decoded('{"a":"ü"}', encoding)).toEqual({ a: 'ü' });
    },
  );

  it.each(['gzip', 'deflate', 'br', 'binary', 'latin1', 'utf-16', 'utf-8,gzip', 5, {}, ['utf-8']])(
    'refuses the content encoding %o, whatever the body looks like, and names it',
    (encoding) => {
      for (const content of ['{"a":1}', gzipSync('{"a":1}'), '']) {
        expect(() => decoded(content, encoding)).toThrow(/Unknown content encoding/);
      }
      if (typeof encoding === 'string') expect(() => decoded('{}', encoding)).toThrow(encoding);
    },
  );

  it('takes text that is no JSON for a failure unless it is told otherwise', () => {
    expect(() => decodeJson(aMessage({ content: 'plain' }))).toThrow(SyntaxError);
  });

  it('leaves the prototypes of the application alone', () => {
    const payload = decoded('{"__proto__":{"isAdmin":true}}') as Record<string, unknown>;
    expect(Object.hasOwn(payload, '__proto__')).toBe(true);
    expect(payload['isAdmin']).toBeUndefined();
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
  });

  it('hands text that is no JSON over as it is, where the option allows it', () => {
    expect(decoded('not json', undefined, true)).toBe('not json');
    expect(decoded('{"a":1', undefined, true)).toBe('{"a":1');
    expect(decoded('{"a":1}', undefined, true)).toEqual({ a: 1 });
    expect(() => decoded('not json', 'gzip', true)).toThrow(/encoding/);
  });
});

describe('the decoding stage', () => {
  /** The stage before `next`; what fails in it is raised. */
  function decoding(deserializer: unknown, next: () => Promise<Outcome>) {
    const how = { deserializer, allowNonJsonMessages: false } as Parameters<typeof decodeStage>[0];
    const stage = decodeStage(how, rethrowing, next);
    return async (delivery: DeliveryRecord) => stage(delivery);
  }

  async function run(deserializer?: unknown) {
    const next = vi.fn(async () => ack());
    const delivery = aDelivery({}, aMessage({ content: '{"a":1}' }));
    const result = await decoding(deserializer, next)(delivery).catch((error: unknown) => error);
    return { result, delivery, next };
  }

  it('puts the payload on the delivery before the handler runs', async () => {
    const { result, delivery, next } = await run();
    expect(delivery.payload).toEqual({ a: 1 });
    expect(next).toHaveBeenCalledOnce();
    expect(result).toEqual(ack());
  });

  it('hands a deserializer the bytes and the message, an empty body too', async () => {
    const deserializer = vi.fn((bytes: Buffer) => bytes);
    for (const content of [Buffer.from([0, 255]), Buffer.alloc(0)]) {
      const message = aMessage({ content, properties: { contentEncoding: 'gzip' } });
      const delivery = aDelivery({}, message);
      await decoding(deserializer, async () => ack())(delivery);
      expect(deserializer).toHaveBeenLastCalledWith(message.content, message);
      expect(delivery.payload).toBe(message.content);
    }
  });

  it.each([undefined, null, 0, '', { then: 'no method' }])(
    'takes %o of a deserializer for a payload',
    async (value) => {
      for (const deserializer of [() => value, async () => value]) {
        const { delivery, next } = await run(deserializer);
        expect(delivery.payload).toEqual(value);
        expect(next).toHaveBeenCalledOnce();
      }
    },
  );

  it('waits for a deserializer that returns a promise', async () => {
    let resolve: (value: unknown) => void = () => {};
    const next = vi.fn(async () => ack());
    const delivery = aDelivery();
    const later = new Promise((done) => {
      resolve = done;
    });
    const running = decoding(() => later, next)(delivery);
    await Promise.resolve();
    expect(next).not.toHaveBeenCalled();
    resolve({ late: true });
    await running;
    expect(delivery.payload).toEqual({ late: true });
    expect(next).toHaveBeenCalledOnce();
  });

  it('fails as decoding where the default decoder throws', async () => {
    const next = vi.fn(async () => ack());
    const delivery = aDelivery({}, aMessage({ content: '{' }));
    await expect(decoding(undefined, next)(delivery)).rejects.toMatchObject({
      origin: 'decode',
      error: expect.any(SyntaxError),
    });
    expect(next).not.toHaveBeenCalled();
  });

  describe.each<[string, (error: unknown) => () => unknown]>([
    [
      'throws',
      (error) => () => {
        throw error;
      },
    ],
    ['rejects', (error) => () => Promise.reject(error)],
    [
      'returns a thenable that throws',
      (error) => () => ({
        then: () => {
          throw error;
        },
      }),
    ],
    [
      'returns an object whose then can not be read',
      (error) => () => ({
        get then(): never {
          throw error;
        },
      }),
    ],
  ])('with a deserializer that %s', (_name, by) => {
    it.each(oddValues)('%s: fails as decoding, the value untouched', async (_odd, make) => {
      const value = make();
      const { result, delivery, next } = await run(by(value));
      expect(result).toBeInstanceOf(HandlerFailure);
      expect((result as HandlerFailure).origin).toBe('decode');
      expect(Object.is((result as HandlerFailure).error, value)).toBe(true);
      expect(delivery.payload).toBeUndefined();
      expect(next).not.toHaveBeenCalled();
    });
  });

  it('takes an outcome that a deserializer throws for a failure: it has no say', async () => {
    const { result } = await run(() => {
      throw ack();
    });
    expect(result).toMatchObject({ origin: 'decode', error: ack() });
  });

  it('leaves a failure from further in as it is', async () => {
    const error = new Error('the handler’s');
    for (const deserializer of [undefined, async () => 1]) {
      const stage = decoding(deserializer, () => Promise.reject(error));
      await expect(stage(aDelivery())).rejects.toBe(error);
    }
  });

  it('does not start the handler for a delivery that is lost by the time it is decoded', async () => {
    const next = vi.fn(async () => ack());
    const delivery = aDelivery();
    const reason = new Error('the channel is gone');
    const deserializer = async (): Promise<number> => {
      delivery.abort(reason);
      return 1;
    };
    await expect(decoding(deserializer, next)(delivery)).rejects.toMatchObject({
      origin: 'body',
      error: reason,
    });
    expect(next).not.toHaveBeenCalled();
  });
});
