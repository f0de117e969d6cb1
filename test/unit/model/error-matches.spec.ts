import { type AddressInfo, createServer } from 'node:net';
import { HttpException } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { delayOfMatch, http, network, sqlState } from '../../../lib/model/error-matches';
import { oddValues } from '../fixtures';

const NOW = Date.parse('2024-05-01T12:00:00.000Z');
const throwing = new Proxy(new Error('x'), {
  get: () => {
    throw new Error('no');
  },
});

function withCode(code: unknown, more: object = {}): Error {
  return Object.assign(new Error('x'), { code, ...more });
}

describe('network()', () => {
  it.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'ETIMEDOUT',
    'ENOTFOUND',
    'UND_ERR_SOCKET',
    'ERR_NETWORK',
  ])('matches %s', (code) => {
    expect(network()(withCode(code))).toBe(true);
  });

  it.each(['ENOENT', 'ERR_BAD_REQUEST', 42, undefined, 'econnreset'])(
    'does not match %s',
    (code) => {
      expect(network()(withCode(code))).toBe(false);
    },
  );

  it('matches the cause of a fetch that failed', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const error = await fetch(`http://127.0.0.1:${port}`).catch((thrown: unknown) => thrown);
    const causes = [error, (error as Error).cause];
    expect(causes.some(network())).toBe(true);
  });
});

describe('http()', () => {
  const match = http(429, 503);
  it.each<[string, object]>([
    ['a status', { status: 429 }],
    ['a statusCode', { statusCode: 503 }],
    ['a response of axios, ky or fetch', { response: { status: 429 } }],
    ['a response of got', { response: { statusCode: 429 } }],
    ["AWS's metadata", { $metadata: { httpStatusCode: 503 } }],
    ["Nest's exception", new HttpException('later', 429)],
  ])('matches %s', (_name, error) => {
    expect(match(error)).toBe(true);
  });

  it.each([{ status: 500 }, { status: '429' }, { response: 429 }, new HttpException('no', 400)])(
    'does not match %o',
    (error) => {
      expect(match(error)).toBe(false);
    },
  );

  it.each<[string, unknown, number | undefined]>([
    ['seconds', '120', 120_000],
    ['a number', 2, 2_000],
    ['a date', 'Wed, 01 May 2024 12:00:30 GMT', 30_000],
    ['more than 49 days', '99999999999', 49 * 86_400_000],
    ['nothing to wait', '0', undefined],
    ['a date that has passed', 'Wed, 01 May 2024 11:00:00 GMT', undefined],
    ['something else', 'soon', undefined],
    ['a negative number', '-5', undefined],
    ['a long text', '1'.repeat(5_000), undefined],
    ['a list', ['1'], undefined],
  ])('takes %s of Retry-After as the delay', (_name, value, delay) => {
    const errors = [
      { response: { headers: { 'retry-after': value } } },
      { headers: { 'Retry-After': value } },
      {
        $response: { headers: { get: (name: string) => (name === 'retry-after' ? value : null) } },
      },
    ];
    for (const error of errors) expect(delayOfMatch(match, error, NOW)).toBe(delay);
  });

  it('reads the headers of fetch', () => {
    const response = new Response('', { status: 429, headers: { 'Retry-After': '3' } });
    expect([match({ response }), delayOfMatch(match, { response }, NOW)]).toEqual([true, 3_000]);
  });

  it('knows no delay if the headers cannot be read', () => {
    const get = (): never => {
      throw new Error('no');
    };
    expect(delayOfMatch(match, { headers: { get } }, NOW)).toBeUndefined();
    expect(delayOfMatch(() => true, {}, NOW)).toBeUndefined();
  });

  it.each([[[]], [[42]], [[600]], [[429.5]], [['429']]])('throws for %j', (statuses) => {
    expect(() => http(...(statuses as number[]))).toThrow(RangeError);
  });
});

describe('sqlState()', () => {
  const match = sqlState('40', '23505');
  it.each<[string, object]>([
    ['pg', withCode('40001')],
    ['mysql2 and mariadb', withCode('ER_LOCK_DEADLOCK', { sqlState: '40001' })],
    ['TypeORM', { driverError: withCode('40P01') }],
    ['Sequelize', { original: withCode('23505') }],
    ['Prisma, a raw query', withCode('P2010', { meta: { code: '40001' } })],
  ])('matches an error of %s', (_name, error) => {
    expect(match(error)).toBe(true);
  });

  it.each([withCode('23503'), withCode('40'), withCode(40001), withCode('ECONNRESET')])(
    'does not match %o',
    (error) => {
      expect(match(error)).toBe(false);
    },
  );

  it.each([[[]], [['4']], [['400']], [['40p01']], [[40]]])('throws for %j', (states) => {
    expect(() => sqlState(...(states as string[]))).toThrow(RangeError);
  });
});

it.each([network(), http(503), sqlState('08')])('never throws: %o', (match) => {
  for (const value of [...oddValues, throwing]) expect(match(value)).toBe(false);
});
