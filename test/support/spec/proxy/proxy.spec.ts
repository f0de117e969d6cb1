import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AmqpProxy,
  basicAck,
  fromClient,
  fromServer,
  heartbeat,
  protocolHeader,
} from '../../proxy';
import { allEnd, Bench, deliver, eventually, publish } from './peers';

let bench: Bench;
let proxy: AmqpProxy;

beforeEach(async () => {
  bench = await Bench.start();
  proxy = bench.proxy;
});

afterEach(() => bench.stop());

describe('passing on', () => {
  it('keeps everything of the URL except host and port', () => {
    const url = new URL(proxy.url);
    expect(url.host).not.toBe(new URL(bench.broker.url).host);
    url.port = new URL(bench.broker.url).port;
    expect(url.href).toBe(bench.broker.url);
  });

  it('needs an amqp URL', async () => {
    await expect(AmqpProxy.start('amqps://localhost')).rejects.toThrow('amqps:');
  });

  it('passes both directions on unchanged, however the chunks are cut', async () => {
    const { client, server } = await bench.connect();
    const sent = Buffer.concat([protocolHeader, publish('key', 'x'.repeat(500)), heartbeat]);
    for (let offset = 0; offset < sent.length; offset += 11) {
      client.send(sent.subarray(offset, offset + 11));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const answer = Buffer.concat([deliver(1), deliver(2, ''), basicAck(1, 1)]);
    server.send(answer);
    await eventually(() => server.received.equals(sent)).toBe(true);
    await eventually(() => client.received.equals(answer)).toBe(true);
  });

  it('applies back pressure', async () => {
    const { client, server } = await bench.connect();
    const one = publish('key', 'x'.repeat(100_000));
    server.socket.pause();
    for (let sent = 0; sent < 400; sent += 1) {
      client.send(one);
    }
    let before = -1;
    const hasGrown = () => {
      const count = proxy.count('client', 'basic.publish');
      const grown = count > before;
      before = count;
      return grown;
    };
    await expect.poll(hasGrown, { timeout: 5000, interval: 100 }).toBe(false);
    expect(before).toBeLessThan(400);
    server.socket.resume();
    await eventually(() => server.frames.length).toBe(400 * 4);
    expect(proxy.count('client', 'basic.publish')).toBe(400);
  });

  it('keeps the contents of several channels apart', async () => {
    const { client, server } = await bench.connect();
    const [first, second] = [publish('a', 'one', 1), publish('b', 'two', 2)];
    client.send(first.subarray(0, 30), Buffer.alloc(0));
    await new Promise((resolve) => setImmediate(resolve));
    client.send(first.subarray(30), second);
    await eventually(() => server.received.equals(Buffer.concat([first, second]))).toBe(true);
  });

  it('passes on the end of either side', async () => {
    const one = await bench.connect();
    one.client.send(heartbeat);
    one.client.socket.end();
    await allEnd(one.server);
    expect(one.server.frames).toEqual(['heartbeat@0']);
    const two = await bench.connect();
    two.server.socket.resetAndDestroy();
    await allEnd(two.client);
    await eventually(() => proxy.openConnections).toEqual([]);
  });

  it('closes the client when nothing listens at the target', async () => {
    bench.broker.stopListening();
    const client = await bench.dial();
    await allEnd(client);
  });

  it('destroys a connection that does not speak AMQP, with a reason', async () => {
    const { client, server } = await bench.connect();
    client.send(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
    await allEnd(client, server);
    expect(proxy.errors.map(String)).toEqual(['FrameError: 71 is not a frame type']);
  });
});

describe('recording', () => {
  it('lists frames in order with connection, channel and details', async () => {
    const one = await bench.connect();
    const two = await bench.connect();
    one.client.send(publish('key', 'b', 4));
    await proxy.waitFor(fromClient('content.body'));
    two.server.send(basicAck(1, 9, true));
    await proxy.waitFor(fromServer('basic.ack'));
    const published = { direction: 'client', connection: 1, channel: 4 };
    expect(proxy.frames).toMatchObject([
      { ...published, method: 'basic.publish', details: { routingKey: 'key' } },
      { ...published, method: 'content.header', details: { bodySize: 1 } },
      { ...published, method: 'content.body' },
      { direction: 'server', connection: 2, method: 'basic.ack', details: { deliveryTag: 9 } },
    ]);
    expect(proxy.connectionCount).toBe(2);
    expect(proxy.openConnections).toEqual([1, 2]);
  });

  it('counts by direction and method until cleared', async () => {
    const { client, server } = await bench.connect();
    client.send(basicAck(1, 1), basicAck(1, 2));
    server.send(basicAck(1, 1));
    await proxy.waitFor(fromClient('basic.ack', { deliveryTag: 2 }));
    await proxy.waitFor(fromServer('basic.ack'));
    expect(proxy.count('client', 'basic.ack')).toBe(2);
    expect(proxy.count('server', 'basic.ack')).toBe(1);
    expect(proxy.count('client', 'basic.nack')).toBe(0);
    proxy.clearFrames();
    expect(proxy.frames).toEqual([]);
    expect(proxy.count('client', 'basic.ack')).toBe(0);
  });

  it('counts and waits without recording', async () => {
    const { client, server } = await bench.connect();
    proxy.recording = false;
    client.send(publish('key'), basicAck(1, 1));
    await eventually(() => server.frames.at(-1)).toBe('basic.ack');
    const next = proxy.waitFor(fromClient('basic.ack', { deliveryTag: 2 }));
    client.send(basicAck(1, 2));
    expect((await next).details.deliveryTag).toBe(2);
    expect(proxy.frames).toEqual([]);
    expect(proxy.count('client', 'basic.ack')).toBe(2);
    expect(proxy.recording).toBe(false);
  });

  it('waits for new frames only, or for several', async () => {
    const { client } = await bench.connect();
    client.send(basicAck(1, 1));
    expect((await proxy.waitFor(fromClient('basic.ack'))).details.deliveryTag).toBe(1);
    const fresh = proxy.waitFor(fromClient('basic.ack'), { onlyNew: true });
    const third = proxy.waitFor(fromClient('basic.ack'), { count: 3 });
    client.send(basicAck(1, 2), basicAck(1, 3));
    expect((await fresh).details.deliveryTag).toBe(2);
    expect((await third).details.deliveryTag).toBe(3);
  });

  it('rejects on timeout, with the last frames, and when the proxy stops', async () => {
    const { client } = await bench.connect();
    client.send(heartbeat);
    await proxy.waitFor(fromClient('heartbeat'));
    const late = proxy.waitFor(fromClient('basic.ack'), { timeoutMs: 10 });
    await expect(late).rejects.toThrow(
      'after 10 ms: 0 of 1 awaited frames have arrived; the last frames are client heartbeat',
    );
    const never = expect(proxy.waitFor(fromClient('basic.ack'))).rejects.toThrow('stopped');
    await proxy.stop();
    await never;
  });
});
