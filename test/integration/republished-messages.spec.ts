import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { ConsumeMessage, Options } from 'amqplib';
import { describe, expect, it } from 'vitest';
import { type Outcome, retry, retryAfter } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

const properties: Options.Publish = {
  contentType: 'application/json',
  contentEncoding: 'utf-8',
  deliveryMode: 2,
  priority: 5,
  correlationId: 'correlation',
  replyTo: 'reply',
  messageId: 'message',
  timestamp: 1_700_000_000,
  type: 'order.paid',
  appId: 'shop',
};

const headers = {
  text: 'grün',
  number: 42,
  negative: -7,
  large: 2 ** 40,
  fraction: 1.25,
  yes: true,
  no: false,
  nothing: null,
  list: [1, 'two', { three: 3 }, [4]],
  table: { a: { b: 'c' }, empty: {} },
  when: { '!': 'timestamp', value: 1_700_000_000 },
  bytes: Buffer.from([0, 255]),
};

const ways: [name: string, way: () => Outcome][] = [
  ['retry()', () => retry()],
  ['retryAfter()', () => retryAfter(20)],
];

describe.each(['classic', 'quorum'] as const)(
  'messages republished from a %s queue',
  async (queueType) => {
    const broker = await openBroker();

    /** The message at attempts 1 and 2, and the dead letter. */
    async function messagesOf(
      body: Buffer,
      published: Options.Publish,
      way: () => Outcome,
      options: Partial<AcknowledgedOptions> = {},
    ): Promise<ConsumeMessage[]> {
      const queue = unique('republished');
      const seen: ConsumeMessage[] = [];
      const Handler = handlerOf(
        {
          queue,
          queueType,
          retry: { attempts: 2 },
          deadLetter: `${queue}.dead`,
          deserializer: (bytes: Buffer) => bytes,
          ...options,
        },
        (_payload, { message }) => {
          seen.push(message);
          return way();
        },
      );
      await startApp({ providers: [Handler] });
      await broker.send(queue, body, published);
      const dead = await broker.take(`${queue}.dead`, 20_000);
      expect(seen).toHaveLength(2);
      return [...seen, dead as unknown as ConsumeMessage];
    }

    const appHeaders = ({ properties: { headers: all } }: ConsumeMessage): unknown =>
      Object.fromEntries(Object.entries(all ?? {}).filter(([name]) => !name.startsWith('x-')));

    it.each(ways)('keep properties and headers, by %s', async (_name, way) => {
      const priority = queueType === 'classic' ? { queueOptions: { maxPriority: 10 } } : {};
      const published = { ...properties, headers };
      const messages = await messagesOf(Buffer.from('{}'), published, way, priority);
      for (const message of messages) {
        expect(message.properties).toMatchObject(properties);
        expect(appHeaders(message)).toEqual(headers);
      }
    });

    it.each(ways)('stay transient if the message was, by %s', async (_name, way) => {
      const messages = await messagesOf(Buffer.from('{}'), { deliveryMode: 1 }, way);
      for (const message of messages) expect(message.properties.deliveryMode).toBe(1);
    });

    it('lose what would do harm: expiration, user id, CC, BCC, counts and x-death', async () => {
      const other = unique('carbon');
      await broker.declare(other);
      const [first, second, dead] = await messagesOf(
        Buffer.from('{}'),
        {
          expiration: 60_000,
          userId: 'guest',
          CC: [other],
          headers: {
            'x-delivery-count': 7,
            'x-acquired-count': 7,
            'x-death': [{ queue: 'other', count: 3 }],
            'x-first-death-queue': 'other',
            'x-last-death-queue': 'other',
            'x-settle-anything': 'foreign',
            'x-other': 'kept',
          },
        },
        () => retryAfter(20),
      );
      expect(first?.properties.expiration).toBe('60000');
      expect(first?.properties.userId).toBe('guest');
      for (const message of [second, dead]) {
        expect(message?.properties.expiration).toBeUndefined();
        expect(message?.properties.userId).toBeUndefined();
        const names = Object.keys(message?.properties.headers ?? {});
        expect(names).toContain('x-other');
        for (const name of ['CC', 'x-acquired-count', 'x-settle-anything']) {
          expect(names).not.toContain(name);
        }
        // A quorum queue adds its own count.
        expect(message?.properties.headers?.['x-delivery-count']).not.toBe(7);
      }
      const names = Object.keys(dead?.properties.headers ?? {});
      expect(names.filter((name) => name.includes('death'))).toEqual([]);
      expect(JSON.stringify(second?.properties.headers)).not.toContain('"other"');
      // The original was routed there by CC, the republished messages were not.
      await broker.waitForReady(other, 1);
    });

    it('wait for their delay even if the message would have expired sooner', async () => {
      const queue = unique('expiring');
      const at: number[] = [];
      const Handler = handlerOf(
        { queue, queueType, retry: { attempts: 2 }, deadLetter: `${queue}.dead` },
        () => {
          at.push(Date.now());
          return retryAfter(1_200);
        },
      );
      await startApp({ providers: [Handler] });
      await broker.send(queue, {}, { expiration: 500 });
      const dead = await broker.take(`${queue}.dead`);
      expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(1_200);
      expect(dead.properties.expiration).toBeUndefined();
    });

    it.each([
      ['dead letter', { retry: { attempts: 1 } }],
      ['message of retry()', {}],
    ] as const)('leave no %s to expire', async (_name, options) => {
      const queue = unique('lasting');
      const seen: unknown[] = [];
      const Handler = handlerOf(
        { queue, queueType, retry: { attempts: 2 }, deadLetter: `${queue}.dead`, ...options },
        (_payload, { message }) => {
          seen.push(message.properties.expiration);
          return retry();
        },
      );
      await startApp({ providers: [Handler] });
      await broker.send(queue, {}, { expiration: 60_000 });
      const dead = await broker.take(`${queue}.dead`);
      expect(dead.properties.expiration).toBeUndefined();
      expect(seen[0]).toBe('60000');
      // A quorum queue redelivers the message itself.
      if (queueType === 'classic') expect(seen[1]).toBeUndefined();
    });

    const bodies: [name: string, body: Buffer, published?: Options.Publish][] = [
      ['gzip', gzipSync('{"a":1}'), { contentEncoding: 'gzip' }],
      ['every byte', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
      ['nothing', Buffer.alloc(0)],
      ['JSON in its own spacing', Buffer.from('{ "big" : 12345678901234567890 ,\n\t"z":1e0 } ')],
      // Since 4.0 a server accepts at most 16 MiB by default.
      ['15 MB', randomBytes(15 * 1024 * 1024)],
    ];

    it.each(
      bodies.flatMap(([name, body, published]) =>
        ways.map(([way, outcome]) => [name, way, body, published ?? {}, outcome] as const),
      ),
    )('keep a body of %s byte for byte, by %s', async (_name, _way, body, published, outcome) => {
      for (const { content } of await messagesOf(body, published, outcome)) {
        expect(content.equals(body)).toBe(true);
      }
    });
  },
);
