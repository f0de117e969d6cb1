import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Delivery, type Outcome, retry, retryAfter } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { type AcknowledgedOptions, type Body, handlerOf } from '../support/handlers';

const ATTEMPTS = 3;
const SECRET = 's3cr3t';

/** Headers that claim a history, by what they claim. */
const claims: [claim: string, headers: (queue: string) => object][] = [
  ['many attempts', (queue) => ({ 'x-settle-attempt': 99, 'x-settle-queue': queue })],
  ['many deliveries', () => ({ 'x-delivery-count': 50, 'x-acquired-count': 50 })],
  ['no deliveries', () => ({ 'x-delivery-count': -1, 'x-acquired-count': 0 })],
  [
    'a wait for a retry',
    (queue) => ({
      'x-settle-attempt': 99,
      'x-settle-queue': queue,
      'x-death': [{ queue: `${queue}.wait.5`, exchange: '', reason: 'expired', count: 99 }],
    }),
  ],
  [
    'a failure long ago',
    (queue) => ({
      'x-settle-attempt': 1,
      'x-settle-queue': queue,
      'x-settle-first-failed-at': '1970-01-01T00:00:00.000Z',
    }),
  ],
];

/** A subscription with a handler, and the names of its queues. */
function subscription(body: Body, options: Partial<AcknowledgedOptions> = {}) {
  const queue = unique('security');
  const all = { queue, retry: { attempts: ATTEMPTS }, deadLetter: `${queue}.dead` };
  return { queue, dead: `${queue}.dead`, Handler: handlerOf({ ...all, ...options }, body) };
}

describe.each(['classic', 'quorum'] as const)('a message on a %s queue', async (queueType) => {
  const broker = await openBroker();

  it('gets an attempt, and no more than it may have, whatever its headers claim', async () => {
    const attempts = new Map(claims.map(([claim]) => [claim, [] as number[]]));
    const { queue, dead, Handler } = subscription(
      (_payload, { attempt, messageId = '' }) => {
        attempts.get(messageId)?.push(attempt);
        return attempt === 1 ? retry() : retryAfter(5);
      },
      { queueType, retry: { attempts: ATTEMPTS, maxAge: '1h' } },
    );
    await startApp({ providers: [Handler] });
    for (const [messageId, headers] of claims) {
      await broker.send(queue, {}, { messageId, headers: headers(queue) });
    }
    await broker.waitForReady(dead, claims.length);
    await broker.waitForReady(queue, 0);
    const all = [1, 2, 3];
    expect(Object.fromEntries(attempts)).toEqual({
      'many attempts': [ATTEMPTS],
      'many deliveries': all,
      'no deliveries': all,
      'a wait for a retry': [ATTEMPTS],
      'a failure long ago': [1],
    });
  });

  it.each(['client', 'broker'] as const)(
    'is republished and dead-lettered to no queue that its headers name, by the %s',
    async (by) => {
      const other = unique('other');
      await broker.declare(other);
      const outcomes: (() => Outcome)[] = [retry, () => retryAfter(5), retry];
      const dead = unique('dead');
      const { queue, Handler } = subscription(
        (_payload, { attempt }: Delivery) => outcomes[attempt - 1]?.(),
        { queueType, deadLetter: { queue: dead, by } },
      );
      const app = await startApp({ providers: [Handler] });
      const headers = {
        'x-settle-queue': other,
        'x-settle-exchange': '',
        'x-settle-routing-key': other,
        'x-settle-reason': 'attempts',
        'x-settle-origin-queue': other,
        'x-settle-origin-exchange': '',
        'x-settle-origin-routing-key': other,
        'x-first-death-exchange': '',
        'x-first-death-queue': other,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': other,
        'x-dead-letter-strategy': 'at-most-once',
        'x-death': [
          { queue: other, exchange: '', reason: 'rejected', count: 1, 'routing-keys': [other] },
        ],
      };
      await broker.send(queue, {}, { replyTo: other, headers });
      await app.settled(ATTEMPTS);
      await broker.waitForReady(dead, 1);
      await broker.waitForReady(queue, 0);
      expect(await broker.ready(other)).toBe(0);
    },
  );
});

describe('a message from outside', async () => {
  const broker = await openBroker();

  it('cannot fill the log, however many there are and however long their texts', async () => {
    const long = '\u001b[2J'.repeat(20_000);
    const { queue, Handler } = subscription((payload, { headers }) => {
      throw Object.assign(new Error(`${payload} ${headers['text']}`), { name: long });
    });
    const app = await startApp({ providers: [Handler], settle: { structuredLogs: false } });
    for (let id = 0; id < 50; id += 1) {
      const messageId = '\u001b'.repeat(250);
      await broker.send(queue, long, { messageId, headers: { text: long.slice(0, 30_000) } });
    }
    await app.settled(50);
    const lines = app.log.lines.map(({ text, rest }) => `${text} ${rest.join(' ')}`);
    for (const line of lines) expect(line.length).toBeLessThan(12_000);
    expect(lines.length).toBeLessThan(50);
  });

  it('reaches no prototype', async () => {
    const seen: Delivery[] = [];
    const { queue, dead, Handler } = subscription((_payload, delivery) => {
      seen.push(delivery);
      return retry();
    });
    await startApp({ providers: [Handler] });
    const hostile = JSON.stringify({ prototype: { isAdmin: true } });
    const nested = `{"__proto__": {"isAdmin": true}, "constructor": ${hostile}}`;
    const headers = JSON.parse(
      `{"__proto__": {"isAdmin": true}, "n": ${nested}, "l": [${nested}]}`,
    );
    await broker.send(queue, Buffer.from(nested), { headers });
    await broker.take(dead);
    expect(seen).toHaveLength(ATTEMPTS);
    for (const object of [{}, [], () => undefined, seen[0], new Error('an error')]) {
      expect(Reflect.get(object as object, 'isAdmin')).toBeUndefined();
    }
  });

  const schema = z.object({ password: z.literal('another') });
  const failing = (): never => {
    throw new Error('declined');
  };
  const leaking: [what: string, body: Buffer, Partial<AcknowledgedOptions>, Body][] = [
    ['is not JSON', Buffer.from(SECRET), {}, failing],
    ['is not JSON inside', Buffer.from(`{"password": ${SECRET}}`), {}, failing],
    ['ends too early', Buffer.from(`{"password": "${SECRET}`), {}, failing],
    ['does not match its schema', Buffer.from(`{"password":"${SECRET}"}`), { schema }, failing],
    ['fails', Buffer.from(`{"password":"${SECRET}"}`), {}, failing],
    ['is returned by its handler', Buffer.from(`{"password":"${SECRET}"}`), {}, (all) => all],
    ['is returned as a text', Buffer.from(`"${SECRET}"`), {}, (text) => text],
    [
      'is returned for a batch',
      Buffer.from(`{"password":"${SECRET}"}`),
      { batch: { size: 1, wait: 1 }, onPanic: 'drop' } as never,
      (all) => all,
    ],
    ['is not compressed', Buffer.from(SECRET), { decompress: { max: '1MiB' } }, failing],
  ];

  it.each(leaking)(
    'that %s shows neither payload nor headers in the log or in those of a dead letter',
    async (_what, body, options, handler) => {
      const { queue, dead, Handler } = subscription(handler, options);
      const app = await startApp({ providers: [Handler] });
      const contentEncoding = options.decompress && 'gzip';
      await broker.send(queue, body, { headers: { authorization: SECRET }, contentEncoding });
      const [settlement] = await app.settled(1);
      await app.close();
      expect(JSON.stringify(app.log.lines)).not.toContain(SECRET.slice(0, 4));
      if (settlement?.decision.kind !== 'deadLetter') return;
      const { headers = {} } = (await broker.take(dead)).properties;
      const own = Object.entries(headers).filter(([name]) => name.startsWith('x-settle-'));
      expect(JSON.stringify(own)).not.toContain(SECRET.slice(0, 4));
    },
  );

  const zeros = Buffer.alloc(8 * 2 ** 20);
  it.each([
    ['gzip', gzipSync(zeros)],
    ['deflate', deflateSync(zeros)],
    ['br', brotliCompressSync(zeros)],
  ])('in %s is decompressed to no more than it may be, or not at all', async (encoding, body) => {
    for (const options of [{ decompress: { max: '1MiB' } }, {}] as const) {
      const { queue, dead, Handler } = subscription(() => undefined, options);
      await startApp({ providers: [Handler] });
      await broker.send(queue, body, { contentEncoding: encoding });
      const { properties, content } = await broker.take(dead);
      expect(properties.headers?.['x-settle-reason']).toBe('invalid-payload');
      expect(content.equals(body)).toBe(true);
    }
  });
});
