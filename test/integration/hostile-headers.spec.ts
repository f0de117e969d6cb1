import { describe, expect, it } from 'vitest';
import { type Delivery, retry, retryAfter } from '../../lib';
import { startApp } from '../support/app';
import { Broker, openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';
import { argument, contentBody, contentHeader, fromClient, method } from '../support/proxy';

const ways = [
  ['retry()', () => retry()],
  ['retryAfter()', () => retryAfter(20)],
] as const;

describe.each(['classic', 'quorum'] as const)('a message on a %s queue', async (queueType) => {
  const broker = await openBroker();

  function failing(queue: string, way: () => unknown) {
    const seen: Delivery[] = [];
    const Handler = handlerOf(
      { queue, queueType, retry: { attempts: 3 }, deadLetter: `${queue}.dead` },
      (_payload, delivery) => {
        seen.push(delivery);
        return way();
      },
    );
    return { seen, Handler };
  }

  it.each(ways)('with headers named like members of Object, by %s', async (_name, way) => {
    const queue = unique('proto');
    const { seen, Handler } = failing(queue, way);
    await startApp({ providers: [Handler] });
    const headers = Object.assign(
      JSON.parse(`{"__proto__": {"x-settle-attempt": 999, "x-settle-queue": "${queue}"}}`),
      { constructor: 1, toString: 'x', valueOf: 2, kept: 'k' },
    );
    const body = Buffer.from('{"__proto__":{"isAdmin":true}}');
    await broker.send(queue, body, { headers });
    const dead = await broker.take(`${queue}.dead`);
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    for (const { payload } of seen) expect(Object.keys(payload as object)).toEqual(['__proto__']);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    expect(({} as Record<string, unknown>)['x-settle-attempt']).toBeUndefined();
    expect(dead.content.equals(body)).toBe(true);
    expect(dead.properties.headers).toMatchObject({ constructor: 1, toString: 'x', kept: 'k' });
    expect(dead.properties.headers).toMatchObject({ 'x-settle-reason': 'attempts' });
  });

  /** Runs work while every object inherits a function. */
  async function polluted(work: () => Promise<unknown>): Promise<void> {
    const prototype = Object.prototype as { foo?: () => void };
    prototype.foo = () => undefined;
    try {
      await work();
    } finally {
      delete prototype.foo;
    }
  }

  it.each(ways)('while Object.prototype has an additional property, by %s', async (_name, way) => {
    const queue = unique('polluted');
    const { seen, Handler } = failing(queue, way);
    const app = await startApp({ providers: [Handler] });
    // amqplib itself cannot open a connection then, and the one for republishing is opened on first use.
    await broker.send(queue, 'first');
    await broker.take(`${queue}.dead`);
    await app.settled(3);
    await app.registry.pause(Handler, 'handle');
    await broker.send(queue, 'second', { headers: { kept: 'k' } });
    await polluted(async () => {
      await app.registry.resume(Handler, 'handle');
      await app.settled(6);
    });
    const { properties } = await broker.take(`${queue}.dead`);
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1, 2, 3]);
    expect(properties.headers).toMatchObject({ kept: 'k', 'x-settle-reason': 'attempts' });
    expect(Object.hasOwn(properties.headers ?? {}, 'foo')).toBe(false);
  });

  it('is not lost if it cannot be republished meanwhile', async () => {
    const queue = unique('unsendable');
    const { Handler } = failing(queue, () => retryAfter(20));
    const app = await startApp({ providers: [Handler], settle: { republishTimeout: 500 } });
    await app.registry.pause(Handler, 'handle');
    await broker.send(queue, {}, { messageId: 'kept' });
    await polluted(async () => {
      await app.registry.resume(Handler, 'handle');
      await app.settled(1);
    });
    expect(app.settlements[0]?.status).toBe('republishFailed');
    expect(app.log.matching(/\[republish-failed\] message "kept"/, ['error'])).toHaveLength(1);
    expect((await broker.take(`${queue}.dead`)).properties.messageId).toBe('kept');
  });

  it.each([...ways, ['an invalid payload', undefined] as const])(
    'without a header table, by %s',
    async (_name, way) => {
      const queue = unique('bare');
      const { seen, Handler } = failing(queue, way ?? retry);
      const app = await startApp({ providers: [Handler] });
      const proxy = await openProxy();
      proxy.rewrite(fromClient('basic.publish'), ({ channel }) => {
        const body = Buffer.from(way ? '{}' : '{bad');
        const to = [argument.short(0), argument.text(''), argument.text(queue)];
        const publish = method('basic.publish', channel, ...to, argument.bits(false, false));
        const content = [contentHeader(channel, body.length), contentBody(channel, body)];
        return { onward: [publish, ...content] };
      });
      const client = await Broker.connect(proxy.url);
      await client.send(queue, {});
      await client.close();
      const { properties } = await broker.take(`${queue}.dead`);
      expect(properties.headers?.['x-settle-reason']).toBe(way ? 'attempts' : 'invalid-payload');
      await app.settled(way ? 3 : 1);
      expect(seen.map(({ attempt }) => attempt)).toEqual(way ? [1, 2, 3] : []);
      const [first] = app.settlements;
      expect(first?.delivery.message.properties.headers).toBeUndefined();
      expect(first?.delivery.headers).toEqual({});
      await until(async () => (await broker.ready(queue)) === 0);
    },
  );
});
