import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AmqpProxy,
  basicAck,
  basicNack,
  fromClient,
  fromServer,
  heartbeat,
} from '../../proxy';
import { allEnd, arrives, Bench, deliver, eventually, type Peer, passes, publish } from './peers';

const published = ['basic.publish', 'content.header', 'content.body', 'content.body'];
const delivered = ['basic.deliver', 'content.header', 'content.body', 'content.body'];

let bench: Bench;
let proxy: AmqpProxy;
let client: Peer;
let server: Peer;

beforeEach(async () => {
  bench = await Bench.start();
  proxy = bench.proxy;
  ({ client, server } = await bench.connect());
});

afterEach(() => bench.stop());

describe('hold', () => {
  it('holds a frame and those behind it, and releases them in order', async () => {
    const hold = proxy.hold(fromClient('basic.publish'));
    client.send(basicAck(1, 1), publish('key'), heartbeat, basicAck(1, 2));
    const [caught] = await hold.caught(1);
    expect(caught?.details.routingKey).toBe('key');
    await proxy.waitFor(fromClient('basic.ack', { deliveryTag: 2 }));
    await passes(server, client);
    expect(server.frames).toEqual(['basic.ack']);
    hold.release();
    await arrives(server, 'basic.ack', ...published, 'heartbeat@0', 'basic.ack');
    client.send(publish('next'));
    await eventually(() => server.frames.length).toBe(11);
    expect(hold.frames).toHaveLength(1);
  });

  it('holds the end of the stream, too', async () => {
    const hold = proxy.hold(fromClient('basic.ack'));
    client.send(basicAck(1, 1));
    client.socket.destroy();
    await hold.caught(1);
    const other = await bench.connect();
    await passes(other.client, other.server);
    expect(server.isEnded).toBe(false);
    hold.release();
    await allEnd(server);
    expect(server.frames).toEqual(['basic.ack']);
  });

  it('lets other connections pass', async () => {
    const hold = proxy.hold(fromClient('basic.ack', { connection: 1 }));
    client.send(basicAck(1, 1));
    await hold.caught(1);
    const other = await bench.connect();
    await passes(other.client, other.server, basicAck(1, 1));
    expect(server.frames).toEqual([]);
  });

  it('drops the matching frame and passes on the rest', async () => {
    const hold = proxy.hold(fromClient('basic.publish'));
    client.send(publish('one'), heartbeat, publish('two'), basicAck(1, 1));
    await hold.caught(2);
    hold.drop();
    await arrives(server, 'heartbeat@0', 'basic.ack');
  });

  it('holds only matching frames', async () => {
    const hold = proxy.hold(fromServer('basic.ack', { channel: 1 }), { onlyMatching: true });
    server.send(basicAck(1, 1), deliver(1), basicAck(2, 1), basicAck(1, 2));
    await hold.caught(2);
    await arrives(client, ...delivered, 'basic.ack@2');
    hold.release();
    await arrives(client, ...delivered, 'basic.ack@2', 'basic.ack', 'basic.ack');
  });

  it('never releases a frame in the middle of a content', async () => {
    const hold = proxy.hold(fromServer('basic.ack'), { onlyMatching: true });
    const bytes = deliver(1);
    server.send(basicAck(1, 1), bytes.subarray(0, -6));
    await proxy.waitFor(fromServer('content.header'));
    hold.release();
    await passes(client, server);
    server.send(bytes.subarray(-6));
    await arrives(client, ...delivered, 'basic.ack');
  });

  it('drops only matching frames, with their content', async () => {
    const hold = proxy.hold(fromServer('basic.deliver'), { onlyMatching: true });
    const bytes = deliver(1);
    server.send(bytes.subarray(0, -3));
    await hold.caught(1);
    hold.drop();
    server.send(bytes.subarray(-3), heartbeat);
    await arrives(client, 'heartbeat@0');
  });

  it('catches a limited number of frames', async () => {
    const hold = proxy.hold(fromClient('basic.ack'), { times: 1, onlyMatching: true });
    client.send(basicAck(1, 1), basicAck(1, 2));
    await arrives(server, 'basic.ack');
    expect(hold.frames).toHaveLength(1);
    await expect(hold.caught(2, { timeoutMs: 10 })).rejects.toThrow('1 of 2 frames are caught');
  });
});

describe('delay', () => {
  it('holds a frame and those behind it for a time', async () => {
    const rule = proxy.delay(fromClient('basic.ack'), 40, { times: 1 });
    const start = performance.now();
    client.send(basicAck(1, 1), heartbeat);
    await arrives(server, 'basic.ack', 'heartbeat@0');
    expect(performance.now() - start).toBeGreaterThanOrEqual(38);
    expect(rule.matched).toBe(1);
  });

  it('delays only matching frames', async () => {
    proxy.delay(fromServer('basic.ack'), 40, { onlyMatching: true });
    server.send(basicAck(1, 1), deliver(1));
    await arrives(client, ...delivered, 'basic.ack');
  });
});

describe('drop', () => {
  it('loses a method with its content', async () => {
    const rule = proxy.drop(fromClient('basic.publish', { routingKey: 'lost' }));
    client.send(
      publish('lost'),
      publish('kept'),
      publish('lost', ''),
      publish('lost', 'ab'),
      heartbeat,
    );
    await arrives(server, ...published, 'heartbeat@0');
    expect(rule.matched).toBe(3);
    rule.remove();
    client.send(publish('lost'));
    await arrives(server, ...published, 'heartbeat@0', ...published);
  });

  it('keeps the content on request', async () => {
    proxy.drop(fromClient('basic.publish'), { withContent: false, times: 1 });
    client.send(publish('key'), heartbeat);
    await arrives(server, ...published.slice(1), 'heartbeat@0');
  });
});

describe('several rules', () => {
  it('lets the rule added first decide', async () => {
    const first = proxy.drop(fromClient('basic.ack', { deliveryTag: 1 }));
    const second = proxy.cutWhen(fromClient('basic.ack'), { before: true });
    client.send(basicAck(1, 1), heartbeat);
    await arrives(server, 'heartbeat@0');
    expect([first.matched, second.matched]).toEqual([1, 0]);
  });

  it('does not apply rules to the content of a frame that a rule handled', async () => {
    proxy.drop(fromClient('basic.publish'));
    const second = proxy.cutWhen(fromClient('content.body'), { before: true });
    client.send(publish('key'), heartbeat);
    await arrives(server, 'heartbeat@0');
    expect(second.matched).toBe(0);
  });

  it('ends them all on reset', async () => {
    proxy.hold(fromClient('basic.ack'), { onlyMatching: true });
    proxy.delay(fromClient('basic.nack'), 60_000, { onlyMatching: true });
    proxy.drop(fromClient('heartbeat'));
    proxy.refuse(true);
    client.send(basicAck(1, 1), basicNack(1, 2), heartbeat);
    await proxy.waitFor(fromClient('heartbeat'));
    proxy.reset();
    await eventually(() => [...server.frames].sort()).toEqual(['basic.ack', 'basic.nack']);
    await passes(client, server);
    await bench.connect();
    expect(proxy.count('client', 'heartbeat')).toBe(1);
  });
});
