import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openBroker, startApp, unique } from '../support/environment';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

const json = Buffer.from('{"a":1}');
const bom = Buffer.from([0xef, 0xbb, 0xbf]);

describe.each(['classic', 'quorum'] as const)('a body on a %s queue', async (queueType) => {
  const broker = await openBroker();

  async function receive(
    body: Buffer,
    properties: object,
    more: Partial<AcknowledgedOptions> = {},
  ) {
    const queue = unique('bodies');
    const payloads: unknown[] = [];
    const Handler = handlerOf(
      { queue, queueType, retry: { attempts: 3 }, deadLetter: `${queue}.dead`, ...more },
      (payload) => {
        payloads.push(payload);
      },
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, body, { messageId: 'm1', ...properties });
    await broker.send(queue, 'control');
    await app.settled(2);
    expect(payloads.pop()).toBe('control');
    return { app, queue, payloads };
  }

  it.each<[what: string, body: Buffer, properties: object]>([
    ['cut JSON', Buffer.from('{"a":1'), {}],
    ['not JSON', Buffer.from('abc'), { contentType: 'application/json' }],
    ['JSON with single quotes', Buffer.from("{'a':1}"), {}],
    ['the word undefined', Buffer.from('undefined'), {}],
    ['the word NaN', Buffer.from('NaN'), {}],
    ['only spaces', Buffer.from('  '), {}],
    ['invalid UTF-8 inside JSON', Buffer.from([0x22, 0xff, 0x22]), {}],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), {}],
    ['gzip with its encoding', gzipSync(json), { contentEncoding: 'gzip' }],
    ['gzip without its encoding', gzipSync(json), {}],
    ['JSON with the encoding gzip', json, { contentEncoding: 'gzip' }],
    ['an unknown encoding', json, { contentEncoding: 'x-own' }],
    ['another charset in the encoding', json, { contentEncoding: 'iso-8859-1' }],
  ])(
    'of %s is dead-lettered at once, without calling the handler',
    async (_what, body, properties) => {
      const { app, queue, payloads } = await receive(body, properties);
      expect(payloads).toEqual([]);
      const dead = await broker.take(`${queue}.dead`);
      expect(dead.content.equals(body)).toBe(true);
      expect(dead.properties.headers?.['x-settle-reason']).toBe('invalid-payload');
      expect(dead.properties.headers?.['x-settle-attempts-made']).toBe(1);
      expect(app.settlements.map(({ attempt }) => attempt)).toEqual([1, 1]);
      const lines = app.log.matching(/"m1"/);
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(
        /^Handler\.handle \[dead-lettered\] message "m1" .*reason "invalid-payload"\. /,
      );
    },
  );

  it.each<[what: string, body: Buffer, properties: object, payload: unknown]>([
    ['an empty body', Buffer.alloc(0), {}, undefined],
    [
      'an empty body with the content type JSON',
      Buffer.alloc(0),
      { contentType: 'application/json' },
      undefined,
    ],
    ['null', Buffer.from('null'), {}, null],
    ['0', Buffer.from('0'), {}, 0],
    ['false', Buffer.from('false'), {}, false],
    ['an empty text', Buffer.from('""'), {}, ''],
    ['a byte order mark before JSON', Buffer.concat([bom, json]), {}, { a: 1 }],
    ['only a charset as the encoding', json, { contentEncoding: 'UTF-8' }, { a: 1 }],
    ['ascii as the encoding', json, { contentEncoding: 'ascii' }, { a: 1 }],
    ['8bit as the encoding', json, { contentEncoding: '8bit' }, { a: 1 }],
    ['its format as the encoding', json, { contentEncoding: 'application/json' }, { a: 1 }],
    ['no content type', json, { contentType: undefined }, { a: 1 }],
    ['another content type', json, { contentType: 'text/plain' }, { a: 1 }],
  ])('of %s is a payload', async (_what, body, properties, payload) => {
    const { app, payloads } = await receive(body, properties);
    expect(payloads).toEqual([payload]);
    expect(app.settlements.map(({ decision }) => decision.kind)).toEqual(['ack', 'ack']);
  });

  it('that is empty is the empty text with allowNonJsonMessages', async () => {
    const { payloads } = await receive(Buffer.alloc(0), {}, { allowNonJsonMessages: true });
    expect(payloads).toEqual(['']);
  });
});

describe('a payload that is not an object', async () => {
  const broker = await openBroker();

  it.each(['null', '', '0'])('does not shut the application down (%j)', async (body) => {
    const queue = unique('destructured');
    const Handler = handlerOf({ queue, deadLetter: `${queue}.dead` }, (payload) => {
      const { order } = payload as { order: { id: string } };
      return void order.id;
    });
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, Buffer.from(body));
    await broker.send(queue, { order: {} });
    await app.settled(2);
    const dead = await broker.take(`${queue}.dead`);
    expect(dead.properties.headers?.['x-settle-reason']).toBe('invalid-payload');
    expect(app.failed).toEqual([]);
  });
});

describe('onInvalidPayload', async () => {
  const broker = await openBroker();
  const bad = Buffer.from('{"a":1');

  it("'skip' acknowledges, with a warning", async () => {
    const queue = unique('skip');
    const Handler = handlerOf({ queue, onInvalidPayload: 'skip' }, () => undefined);
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, bad);
    const [settlement] = await app.settled(1);
    expect(settlement?.decision.kind).toBe('ack');
    expect(app.log.matching(/\[skipped\] .*SyntaxError/, ['warn'])).toHaveLength(1);
  });

  it.each(['classic', 'quorum'] as const)(
    "'retry' counts and ends at retry.attempts on a %s queue",
    async (queueType) => {
      const queue = unique('retried');
      const dead = `${queue}.dead`;
      const Handler = handlerOf(
        { queue, queueType, retry: { attempts: 3 }, deadLetter: dead, onInvalidPayload: 'retry' },
        () => undefined,
      );
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, bad);
      const { headers } = (await broker.take(dead)).properties;
      expect(headers?.['x-settle-reason']).toBe('attempts');
      expect(headers?.['x-settle-error-name']).toBe('SyntaxError');
      await app.settled(3);
      expect(app.settlements.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    },
  );

  it("'failFast' shuts the application down", async () => {
    const queue = unique('invalid-failfast');
    const Handler = handlerOf({ queue, onInvalidPayload: 'failFast' }, () => undefined);
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, bad);
    await app.settled(1);
    await broker.waitForReady(queue, 1);
    expect(app.failed).toHaveLength(1);
  });
});
