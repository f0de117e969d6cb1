import { describe, expect, it } from 'vitest';
import { ServerUnderTest } from './server';

const body = Buffer.from('one');

describe('bindings', () => {
  it('route through bound exchanges, also in a circle, once to each queue', () => {
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

  it('without a match use the alternate exchange', () => {
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

  it('of a deleted queue are removed', () => {
    const { server } = new ServerUnderTest();
    server.declareQueue('queue', { arguments: {} });
    server.bind('queue', 'amq.fanout', '');
    server.deleteQueue('queue');
    server.declareQueue('queue', { arguments: {} });
    expect(server.publish('amq.fanout', '', { body, properties: {}, headers: {} })).toBe(false);
  });
});

describe('MemoryServer refuses', () => {
  it.each([
    ['a publish to an exchange that does not exist', 404, "no exchange 'x'", 'publish', 'x'],
    ['a binding to the default exchange', 403, 'operation not permitted', 'bind', ''],
    ['a binding to an exchange that does not exist', 404, "no exchange 'x'", 'bind', 'x'],
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
      'another exchange type',
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
    [
      'a non-durable quorum queue',
      { durable: false, arguments: { 'x-queue-type': 'quorum' } },
      'non-durable',
    ],
    [
      'an exclusive quorum queue',
      { exclusive: true, arguments: { 'x-queue-type': 'quorum' } },
      'exclusive-owner',
    ],
    [
      'a dead-letter routing key without an exchange',
      { deadLetterRoutingKey: 'k', arguments: {} },
      'routing_key_but',
    ],
  ])('%s', (_what, declaration, text) => {
    const { server } = new ServerUnderTest();
    expect(() => server.declareQueue('queue', declaration)).toThrow(text);
    expect(server.hasQueue('queue')).toBe(false);
  });
});

describe('an exclusive queue', () => {
  it('belongs to its connection and is deleted with it', () => {
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

describe('declaring a queue again', () => {
  it.each([
    ['the default type', {}, { 'x-queue-type': 'classic' }],
    ['an argument instead of the option', { messageTtl: 5 }, { 'x-message-ttl': 5 }],
    ['an unknown argument', {}, { 'x-mine': 1 }],
  ])('is accepted with %s', (_what, options, args) => {
    const { server } = new ServerUnderTest();
    server.declareQueue('queue', { ...options, arguments: {} });
    expect(server.declareQueue('queue', { arguments: args })).toBe('queue');
  });
});

describe('messages', () => {
  it('are independent of published and delivered objects', async () => {
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

  it('keep a header named __proto__', async () => {
    const test = new ServerUnderTest();
    test.declare('queue');
    const headers = JSON.parse('{"__proto__": {"x-settle-attempt": 9}}');
    test.server.publish('', 'queue', { body, properties: {}, headers });
    const consumer = test.consume('queue');
    await test.turn();
    expect(Object.keys(consumer.headers[0] as object)).toEqual(['__proto__']);
    expect((consumer.headers[0] as Record<string, unknown>)['x-settle-attempt']).toBeUndefined();
  });

  it('have no header table if they were published without one', async () => {
    const test = new ServerUnderTest();
    test.declare('queue');
    test.server.publish('', 'queue', { body, properties: {}, headers: undefined });
    const consumer = test.consume('queue');
    await test.turn();
    expect(consumer.headers).toEqual([undefined]);
  });
});

describe('confirms', () => {
  it('can be held back and refused', async () => {
    const { server } = new ServerUnderTest();
    server.declareQueue('queue', { arguments: {} });
    const message = { body, properties: {}, headers: {} };
    const ended: string[] = [];
    const release = server.holdConfirms();
    const held = server.confirm('queue', message).then((confirm) => ended.push(confirm));
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toEqual([]);
    expect(server.queue('queue').ready).toHaveLength(1); // It is in the queue, but not confirmed.
    release();
    await held;
    server.refuseConfirms(true);
    ended.push(await server.confirm('queue', message));
    server.refuseConfirms(false);
    ended.push(await server.confirm('queue', message), await server.confirm('nowhere', message));
    expect(ended).toEqual(['confirmed', 'refused', 'confirmed', 'returned']);
    expect(server.queue('queue').ready).toHaveLength(2);
  });
});
