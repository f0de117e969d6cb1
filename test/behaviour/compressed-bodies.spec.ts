import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { drop } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

const json = Buffer.from('{"a":1}');
const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20));

describe('decompress', async () => {
  const broker = await openBroker();

  async function receive(
    body: Buffer,
    contentEncoding: string | undefined,
    more: Partial<AcknowledgedOptions> = {},
  ) {
    const queue = unique('compressed');
    const payloads: unknown[] = [];
    const Handler = handlerOf(
      { queue, deadLetter: `${queue}.dead`, decompress: { max: '1MiB' }, ...more },
      (payload) => {
        payloads.push(payload);
        return payload === 'drop' ? drop() : undefined;
      },
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, body, { contentEncoding });
    const [settlement] = await app.settled(1);
    return { app, queue, payloads, settlement };
  }

  it.each([
    ['gzip', gzipSync(json)],
    ['GZIP', gzipSync(json)],
    ['x-gzip', gzipSync(json)],
    ['deflate', deflateSync(json)],
    ['br', brotliCompressSync(json)],
    ['utf-8', json],
    [undefined, json],
  ])('reads a body with the encoding %s', async (encoding, body) => {
    const { payloads, settlement } = await receive(body, encoding);
    expect(payloads).toEqual([{ a: 1 }]);
    expect(settlement?.decision.kind).toBe('ack');
  });

  it.each<[what: string, body: Buffer, encoding: string, text: RegExp]>([
    ['a bomb', bomb, 'gzip', /larger than decompress\.max \(1MiB\)/],
    ['an unknown encoding', gzipSync(json), 'zstd', /^Unknown content encoding 'zstd'/],
    [
      'two encodings',
      brotliCompressSync(gzipSync(json)),
      'gzip, br',
      /^Several content encodings 'gzip, br'/,
    ],
    ['an encoding twice', gzipSync(gzipSync(json)), 'gzip, gzip', /^Several content encodings/],
    ['a body that is not compressed', json, 'gzip', /^incorrect header check/],
    ['a body that is cut off', gzipSync(json).subarray(0, 20), 'gzip', /^unexpected end of file/],
    ['another format', deflateRawSync(json), 'deflate', /^incorrect header check/],
    ['compressed text that is not JSON', gzipSync('{'), 'gzip', /JSON/],
  ])('dead-letters %s as an invalid payload', async (_what, body, encoding, text) => {
    const { payloads, queue } = await receive(body, encoding);
    expect(payloads).toEqual([]);
    const dead = await broker.take(`${queue}.dead`);
    expect(dead.properties.headers?.['x-settle-reason']).toBe('invalid-payload');
    expect(dead.properties.headers?.['x-settle-error-message']).toMatch(text);
    expect(dead.properties.contentEncoding).toBe(encoding);
    expect(dead.content.equals(body)).toBe(true);
  });

  it('gives a deserializer the decompressed body, and bodies of other encodings as they are', async () => {
    const deserializer = (body: Buffer): string => body.toString('hex');
    const plain = await receive(json, 'own', { deserializer });
    expect(plain.payloads).toEqual([json.toString('hex')]);
    const { payloads } = await receive(gzipSync(json), 'gzip', { deserializer });
    expect(payloads).toEqual([json.toString('hex')]);
  });

  it('leaves the body of a dead letter compressed', async () => {
    const body = gzipSync('"drop"');
    const { queue } = await receive(body, 'gzip');
    const dead = await broker.take(`${queue}.dead`);
    expect(dead.content.equals(body)).toBe(true);
  });

  it.each([[{}], [{ max: '16' }], [{ max: 0 }], ['1MiB']])(
    'refuses %j at startup',
    async (value) => {
      const options = { queue: unique('bad'), decompress: value as never };
      await expect(startApp({ providers: [handlerOf(options, () => undefined)] })).rejects.toThrow(
        /Handler\.handle: decompress/,
      );
    },
  );
});
