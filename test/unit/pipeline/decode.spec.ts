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

describe('decodeJson', () => {
  it.each<[string, string, unknown]>([
    ['an object', ' { "a" : [1, "ü"] } ', { a: [1, 'ü'] }],
    ['null', 'null', null],
    ['false', 'false', false],
    ['0', '0', 0],
    ['the empty text', '""', ''],
    ['a text', '"漢😀"', '漢😀'],
    ['a list', '[]', []],
  ])('decodes %s', (_name, content, payload) => {
    expect(decoded(content)).toEqual(payload);
  });

  it('decodes an empty body as undefined', () => {
    expect(decoded('')).toBeUndefined();
    expect(decoded('', 'utf-8')).toBeUndefined();
  });

  it('decodes an empty body as the empty text with allowNonJsonMessages', () => {
    expect(decoded('', undefined, true)).toBe('');
    expect(decoded(BOM, undefined, true)).toBe('');
  });

  it('skips one byte order mark at the beginning', () => {
    expect(decoded(Buffer.concat([BOM, Buffer.from('{"a":1}')]))).toEqual({ a: 1 });
    expect(decoded(Buffer.concat([BOM, Buffer.from('text')]), undefined, true)).toBe('text');
    expect(() => decoded(Buffer.concat([BOM, BOM, Buffer.from('{}')]))).toThrow(SyntaxError);
    expect(decoded(Buffer.concat([Buffer.from('"'), BOM, Buffer.from('"')]))).toBe('\uFEFF');
  });

  it.each(['{"a":1', 'abc', "{'a':1}", 'undefined', 'NaN', ' ', '{}{}', '01', 'null,'])(
    'rejects %s, which is not JSON',
    (content) => {
      expect(() => decoded(content)).toThrow(SyntaxError);
    },
  );

  it.each<[string, Buffer]>([
    ['an invalid byte', Buffer.from([0x22, 0xff, 0x22])],
    ['a truncated character', Buffer.from('"ü').subarray(0, 2)],
    ['an unpaired surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['Latin-1', Buffer.from('"ü"', 'latin1')],
    ['UTF-16', Buffer.from('{"a":"ü"}', 'utf16le')],
    ['gzip without a content encoding', gzipSync('{"a":1}')],
  ])('rejects %s instead of inserting replacement characters', (_name, content) => {
    expect(() => decoded(content)).toThrow();
    expect(() => decoded(content, undefined, true)).toThrow();
  });

  it('keeps a replacement character that was sent', () => {
    expect(decoded('"\uFFFD"')).toBe('\uFFFD');
  });

  it.each([
    ...[undefined, null, '', ' ', 'identity', 'none', 'null'],
    ...['utf-8', 'UTF-8', 'utf8', 'Utf8', 'utf_8', 'utf-8-sig'],
    ...['us-ascii', 'ascii', 'US_ASCII', 'ANSI_X3.4-1968', '7bit', '8bit'],
    ...[
      'json',
      'application/json',
      'application/json; charset=utf-8',
      'text/plain;charset="UTF-8"',
    ],
    ...['string', 'text', 'plain'],
  ])('accepts the content encoding %s', (encoding) => {
    expect(decoded('{"a":"ü"}', encoding)).toEqual({ a: 'ü' });
  });

  it.each([
    ...['gzip', 'deflate', 'br', 'zstd', 'binary', 'base64', 'latin1', 'utf-16', 'utf-8,gzip'],
    ...['application/json; charset=iso-8859-1', 'json;gzip', 'hasOwnProperty', 5, {}, ['utf-8']],
  ])('rejects the content encoding %o for any body, and names it', (encoding) => {
    for (const content of ['{"a":1}', gzipSync('{"a":1}'), '']) {
      expect(() => decoded(content, encoding)).toThrow(/Unknown content encoding/);
    }
    if (typeof encoding === 'string') expect(() => decoded('{}', encoding)).toThrow(encoding);
  });

  it('rejects text by default', () => {
    expect(() => decodeJson(aMessage({ content: 'plain' }))).toThrow(SyntaxError);
  });

  it('does not pollute prototypes', () => {
    const payload = decoded('{"__proto__":{"isAdmin":true}}') as Record<string, unknown>;
    expect(Object.hasOwn(payload, '__proto__')).toBe(true);
    expect(payload['isAdmin']).toBeUndefined();
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
  });

  it('returns text with allowNonJsonMessages', () => {
    expect(decoded('not json', undefined, true)).toBe('not json');
    expect(decoded('{"a":1', undefined, true)).toBe('{"a":1');
    expect(decoded('{"a":1}', undefined, true)).toEqual({ a: 1 });
    expect(() => decoded('not json', 'gzip', true)).toThrow(/encoding/);
  });
});

describe('decodeStage', () => {
  /** The stage before `next`; its failures are thrown. */
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

  it('sets the payload before it calls the handler', async () => {
    const { result, delivery, next } = await run();
    expect(delivery.payload).toEqual({ a: 1 });
    expect(next).toHaveBeenCalledOnce();
    expect(result).toEqual(ack());
  });

  it('calls the deserializer with the bytes and the message, also for an empty body', async () => {
    const deserializer = vi.fn((bytes: Buffer) => bytes);
    for (const content of [Buffer.from([0, 255]), Buffer.alloc(0)]) {
      const message = aMessage({ content, properties: { contentEncoding: 'gzip' } });
      const delivery = aDelivery({}, message);
      await decoding(deserializer, async () => ack())(delivery);
      expect(deserializer).toHaveBeenLastCalledWith(message.content, message);
      expect(delivery.payload).toBe(message.content);
    }
  });

  it.each([undefined, null, 0, '', { then: 'not a method' }])(
    'accepts %o from a deserializer as a payload',
    async (value) => {
      for (const deserializer of [() => value, async () => value]) {
        const { delivery, next } = await run(deserializer);
        expect(delivery.payload).toEqual(value);
        expect(next).toHaveBeenCalledOnce();
      }
    },
  );

  it('awaits a deserializer that returns a promise', async () => {
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

  it('fails with origin decode if the JSON is invalid', async () => {
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
      'returns an object with a then getter that throws',
      (error) => () => ({
        get then(): never {
          throw error;
        },
      }),
    ],
  ])('if the deserializer %s', (_name, by) => {
    it.each(oddValues)('fails with origin decode and that value: %s', async (_odd, make) => {
      const value = make();
      const { result, delivery, next } = await run(by(value));
      expect(result).toBeInstanceOf(HandlerFailure);
      expect((result as HandlerFailure).origin).toBe('decode');
      expect(Object.is((result as HandlerFailure).error, value)).toBe(true);
      expect(delivery.payload).toBeUndefined();
      expect(next).not.toHaveBeenCalled();
    });
  });

  it('treats an outcome that a deserializer throws as a failure', async () => {
    const { result } = await run(() => {
      throw ack();
    });
    expect(result).toMatchObject({ origin: 'decode', error: ack() });
  });

  it('passes on the failure of the handler', async () => {
    const error = new Error('handler failed');
    for (const deserializer of [undefined, async () => 1]) {
      const stage = decoding(deserializer, () => Promise.reject(error));
      await expect(stage(aDelivery())).rejects.toBe(error);
    }
  });

  it('does not call the handler if the channel closed during decoding', async () => {
    const next = vi.fn(async () => ack());
    const delivery = aDelivery();
    const reason = new Error('the channel closed');
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
