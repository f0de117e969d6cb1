import { describe, expect, it } from 'vitest';
import { ServerUnderTest } from './server';

const body = Buffer.from('one');

describe('addresses', () => {
  it('lead through exchanges bound to exchanges, also in a circle, once to each queue', () => {
    const { server } = new ServerUnderTest();
    for (const name of ['a', 'b']) server.declareExchange(name, 'topic');
    server.declareQueue('queue', { arguments: {} });
    server.bindExchange('b', 'a', 'order.*');
    server.bindExchange('a', 'b', '#');
    server.bind('queue', 'a', 'order.paid');
    server.bind('queue', 'b', '#');
    expect(server.publish('a', 'order.paid', { body, properties: {}, headers: {} })).toBe(true);
    expect(server.publish('a', 'else', { body, properties: {}, headers: {} })).toBe(false);
    expect(server.queue('queue').ready).toHaveLength(1);
  });

  it('that no binding lets through go to the alternate exchange', () => {
    const { server } = new ServerUnderTest();
    server.declareExchange('rest', 'fanout');
    server.declareExchange('orders', { type: 'direct', alternateExchange: 'rest' });
    server.declareQueue('rest', { arguments: {} });
    server.bind('rest', 'rest', '');
    expect(server.publish('orders', 'unknown', { body, properties: {}, headers: {} })).toBe(true);
    expect(server.queue('rest').ready[0]).toMatchObject({
      exchange: 'orders',
      routingKey: 'unknown',
    });
  });

  it('of a deleted queue are forgotten with it', () => {
    const { server } = new ServerUnderTest();
    server.declareQueue('queue', { arguments: {} });
    server.bind('queue', 'amq.fanout', '');
    server.deleteQueue('queue');
    server.declareQueue('queue', { arguments: {} });
    expect(server.publish('amq.fanout', '', { body, properties: {}, headers: {} })).toBe(false);
  });
});

describe('what a server refuses', () => {
  it.each([
    ['an exchange that is not there', 404, "no exchange 'x'", 'publish', 'x'],
    ['a binding to the default exchange', 403, 'operation not permitted', 'bind', ''],
    ['a binding to an exchange that is not there', 404, "no exchange 'x'", 'bind', 'x'],
    [
      'a queue with a reserved name',
      403,
      "queue name 'amq.x' contains reserved prefix",
      'queue',
      'amq.x',
    ],
    [
      'an exchange with a reserved name',
      403,
      "exchange name 'amq.x' contains",
      'exchange',
      'amq.x',
    ],
    [
      'another type',
      406,
      "inequivalent arg 'type' for exchange 'amq.topic'",
      'exchange',
      'amq.topic',
    ],
  ] as const)('%s', (_what, code, text, method, name) => {
    const { server } = new ServerUnderTest();
    server.declareQueue('queue', { arguments: {} });
    const work = {
      publish: () => server.publish(name, 'key', { body, properties: {}, headers: {} }),
      bind: () => server.bind('queue', name, 'key'),
      queue: () => server.declareQueue(name, { arguments: {} }),
      exchange: () => server.declareExchange(name, 'direct'),
    }[method];
    expect(work).toThrow(expect.objectContaining({ code, message: expect.stringContaining(text) }));
  });

  it.each(['1.5', '-1', 'soon', ''])('the expiration %j', (expiration) => {
    const test = new ServerUnderTest();
    test.declare('queue');
    expect(() => test.send('queue', 'one', { expiration })).toThrow(/406 .*invalid expiration/);
    expect(test.ready('queue')).toEqual([]);
  });

  it.each([
    ['no durable', { durable: false, arguments: { 'x-queue-type': 'quorum' } }, 'non-durable'],
    [
      'an exclusive',
      { exclusive: true, arguments: { 'x-queue-type': 'quorum' } },
      'exclusive-owner',
    ],
    ['a key without an exchange', { deadLetterRoutingKey: 'k', arguments: {} }, 'routing_key_but'],
  ])('%s queue', (_what, declaration, text) => {
    const { server } = new ServerUnderTest();
    expect(() => server.declareQueue('queue', declaration)).toThrow(text);
    expect(server.hasQueue('queue')).toBe(false);
  });

  it('a header that no table holds', () => {
    const { server } = new ServerUnderTest();
    server.declareQueue('queue', { arguments: {} });
    const headers = { nested: [{ work: () => {} }] };
    expect(() => server.publish('', 'queue', { body, properties: {}, headers })).toThrow(TypeError);
  });
});

describe('an exclusive queue', () => {
  it('is its connection’s own, and goes with it', () => {
    const { server } = new ServerUnderTest();
    const [mine, others] = [{}, {}];
    server.declareQueue('own', { exclusive: true, arguments: {} }, mine);
    expect(server.queueFor('own', mine).name).toBe('own');
    expect(() => server.queueFor('own', others)).toThrow(/405/);
    expect(() => server.bind('own', 'amq.fanout', '', {}, others)).toThrow(/405/);
    expect(server.publish('', 'own', { body, properties: {}, headers: {} })).toBe(true);
    server.disconnected(others);
    expect(server.hasQueue('own')).toBe(true);
    server.disconnected(mine);
    expect(server.hasQueue('own')).toBe(false);
  });
});

describe('a queue declared again', () => {
  it.each([
    ['the type that is the default', {}, { 'x-queue-type': 'classic' }],
    ['an argument in place of the option', { messageTtl: 5 }, { 'x-message-ttl': 5 }],
    ['an argument that no server knows', {}, { 'x-mine': 1 }],
  ])('is the same with %s', (_what, options, args) => {
    const { server } = new ServerUnderTest();
    server.declareQueue('queue', { ...options, arguments: {} });
    expect(server.declareQueue('queue', { arguments: args })).toBe('queue');
  });
});

describe('messages', () => {
  it('share nothing with what was published, nor with what is handed out', async () => {
    const test = new ServerUnderTest();
    test.declare('queue');
    const headers = { list: [1], table: { a: 1 } };
    const sent = Buffer.from('one');
    test.server.publish('', 'queue', { body: sent, properties: {}, headers });
    headers.list.push(2);
    headers.table.a = 2;
    const consumer = test.consume('queue');
    await test.turn();
    expect(consumer.headers[0]).toEqual({ list: [1], table: { a: 1 } });
    (consumer.headers[0] as typeof headers).list.push(3);
    consumer.channel.settle(1, 'requeueFailed');
    await test.turn();
    expect(consumer.headers[1]).toEqual({ list: [1], table: { a: 1 } });
  });

  it('keep a header named __proto__ as one like any other', async () => {
    const test = new ServerUnderTest();
    test.declare('queue');
    const headers = JSON.parse('{"__proto__": {"x-settle-attempt": 9}}');
    test.server.publish('', 'queue', { body, properties: {}, headers });
    const consumer = test.consume('queue');
    await test.turn();
    expect(Object.keys(consumer.headers[0] as object)).toEqual(['__proto__']);
    expect((consumer.headers[0] as Record<string, unknown>)['x-settle-attempt']).toBeUndefined();
  });

  it('come without a header table where they were published without one', async () => {
    const test = new ServerUnderTest();
    test.declare('queue');
    test.server.publish('', 'queue', { body, properties: {}, headers: undefined });
    const consumer = test.consume('queue');
    await test.turn();
    expect(consumer.headers).toEqual([undefined]);
  });
});

describe('confirms', () => {
  it('are held back until they are let go, and refused as long as they are to be', async () => {
    const { server } = new ServerUnderTest();
    server.declareQueue('queue', { arguments: {} });
    const copy = { body, properties: {}, headers: {} };
    const ended: string[] = [];
    const release = server.holdConfirms();
    const held = server.confirm('queue', copy).then((confirm) => ended.push(confirm));
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toEqual([]);
    expect(server.queue('queue').ready).toHaveLength(1); // It is there; nobody has said so yet.
    release();
    await held;
    server.refuseConfirms(true);
    ended.push(await server.confirm('queue', copy));
    server.refuseConfirms(false);
    ended.push(await server.confirm('queue', copy), await server.confirm('nowhere', copy));
    expect(ended).toEqual(['confirmed', 'refused', 'confirmed', 'returned']);
    expect(server.queue('queue').ready).toHaveLength(2);
  });
});
