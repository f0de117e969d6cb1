import { describe, expect, it } from 'vitest';
import type { SubscribeOptions } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { handlerOf } from '../support/handlers';

type Deserializer = NonNullable<SubscribeOptions['deserializer']>;

describe('a deserializer', async () => {
  const broker = await openBroker();

  it.each<[what: string, body: Buffer]>([
    ['binary', Buffer.from([0, 255, 254, 1])],
    ['text', Buffer.from('no JSON')],
    ['nothing', Buffer.alloc(0)],
  ])('receives %s as raw bytes', async (_what, body) => {
    const queue = unique('raw');
    const seen: [unknown, string | undefined][] = [];
    const Handler = handlerOf(
      {
        queue,
        deserializer: (content, { properties }) => {
          seen.push([content, properties.contentType]);
          return content;
        },
      },
      (payload) => {
        seen.push([payload, 'handler']);
      },
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, body, { contentType: 'application/x-own' });
    await app.settled(1);
    expect(seen).toEqual([
      [body, 'application/x-own'],
      [body, 'handler'],
    ]);
  });

  it.each<[what: string, deserializer: Deserializer]>([
    [
      'throws',
      () => {
        throw new Error('unreadable');
      },
    ],
    ['rejects', () => Promise.reject(new Error('unreadable'))],
    [
      'throws a TypeError, which is not a panic here',
      () => {
        throw new TypeError('unreadable');
      },
    ],
    [
      'throws a text',
      () => {
        throw 'unreadable';
      },
    ],
  ])('that %s makes the payload invalid', async (_what, deserializer) => {
    const queue = unique('broken');
    let runs = 0;
    const Handler = handlerOf(
      { queue, retry: { attempts: 3 }, deadLetter: `${queue}.dead`, deserializer },
      () => {
        runs += 1;
      },
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const { headers } = (await broker.take(`${queue}.dead`)).properties;
    expect(headers?.['x-settle-reason']).toBe('invalid-payload');
    expect(headers?.['x-settle-error-message']).toBe('unreadable');
    expect(runs).toBe(0);
    expect(app.failed).toEqual([]);
  });

  it('may return undefined or a promise', async () => {
    const queue = unique('odd');
    const payloads: unknown[] = [];
    const Handler = handlerOf(
      {
        queue,
        deserializer: async (content: Buffer) => (content.length > 2 ? 'later' : undefined),
      },
      (payload) => {
        payloads.push(payload);
      },
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    await broker.send(queue, 'long');
    await app.settled(2);
    expect(payloads).toEqual([undefined, 'later']);
  });

  it("of the subscription overrides the connection's, which overrides the module's", async () => {
    const [own, shared] = [unique('own'), unique('shared')];
    const payloads: unknown[] = [];
    const note = (payload: unknown) => {
      payloads.push(payload);
    };
    const Own = handlerOf({ queue: own, deserializer: () => 'subscription' }, note);
    const Shared = handlerOf({ queue: shared }, note);
    const app = await startApp({
      providers: [Own, { provide: 'shared', useClass: Shared }],
      rabbit: { deserializer: () => 'connection' },
    });
    await broker.send(own, {});
    await app.settled(1);
    await broker.send(shared, {});
    await app.settled(2);
    expect(payloads).toEqual(['subscription', 'connection']);
  });

  it('is not needed for text: allowNonJsonMessages passes it on, but not invalid UTF-8', async () => {
    const queue = unique('text');
    const payloads: unknown[] = [];
    const Handler = handlerOf(
      { queue, allowNonJsonMessages: true, deadLetter: `${queue}.dead` },
      (payload) => {
        payloads.push(payload);
      },
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, Buffer.from('plain text'));
    await broker.send(queue, Buffer.from('{"a":1}'));
    await broker.send(queue, Buffer.from([0xff]));
    await app.settled(3);
    expect(payloads).toEqual(['plain text', { a: 1 }]);
    await broker.waitForReady(`${queue}.dead`, 1);
  });
});
