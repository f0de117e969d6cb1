import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AmqpProxy,
  basicAck,
  basicCancel,
  basicNack,
  channelClose,
  channelCloseOk,
  fromClient,
  fromServer,
  heartbeat,
} from '../../proxy';
import { arrives, Bench, declare, deliver, eventually, type Peer, passes, publish } from './peers';

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

describe('rewrite', () => {
  it('replaces a frame by others', async () => {
    proxy.rewrite(fromServer('basic.ack'), ({ channel, details }) => ({
      onward: [basicNack(channel, details.deliveryTag ?? 0), heartbeat],
    }));
    server.send(basicAck(3, 7));
    await arrives(client, 'basic.nack@3', 'heartbeat@0');
  });

  it('gives the bytes of the frame with its content, to send them twice', async () => {
    const twice = { times: 1 };
    proxy.rewrite(fromServer('basic.deliver'), (_, bytes) => ({ onward: [bytes, bytes] }), twice);
    const bytes = deliver(1);
    server.send(bytes.subarray(0, 20));
    await passes(client, server);
    server.send(bytes.subarray(20), bytes);
    await eventually(() => client.received.equals(Buffer.concat([bytes, bytes, bytes]))).toBe(true);
  });

  it('replies instead of the broker', async () => {
    const reason = { replyCode: 406, replyText: 'PRECONDITION_FAILED' };
    proxy.rewrite(fromClient('queue.declare', { queue: 'taken' }), ({ channel }) => ({
      back: [channelClose(channel, reason)],
    }));
    client.send(declare('free'), declare('taken'), heartbeat);
    await arrives(server, 'queue.declare', 'heartbeat@0');
    await arrives(client, 'channel.close');
  });

  it('fails a channel on both sides and leaves the others alone', async () => {
    const reason = { replyCode: 404, replyText: 'NOT_FOUND' };
    proxy.failChannel(fromClient('queue.declare'), reason, { times: 1 });
    client.send(declare('missing'), publish('lost'), heartbeat);
    await arrives(server, 'channel.close', 'heartbeat@0');
    await arrives(client, 'channel.close');
    server.send(deliver(1), channelCloseOk(1), deliver(2, 'body', 2));
    client.send(channelCloseOk(1), declare('again'));
    await arrives(server, 'channel.close', 'heartbeat@0', 'queue.declare');
    await arrives(client, 'channel.close', ...delivered.map((name) => `${name}@2`));
  });

  it('fails a channel after a content in transit', async () => {
    proxy.failChannel(fromClient('queue.declare'), { replyCode: 404, replyText: 'NOT_FOUND' });
    const bytes = deliver(1);
    server.send(bytes.subarray(0, 50));
    await proxy.waitFor(fromServer('basic.deliver'));
    client.send(declare('missing'));
    await arrives(server, 'channel.close');
    server.send(bytes.subarray(50));
    await arrives(client, ...delivered, 'channel.close');
  });

  it('injects frames, wherever their bytes are', async () => {
    const first = basicCancel(1, 'tag');
    const apart = Buffer.from(new ArrayBuffer(first.length), 0, first.length);
    first.copy(apart);
    const behind = Buffer.from(new ArrayBuffer(100), first.length, heartbeat.length);
    heartbeat.copy(behind);
    proxy.inject('server', 1, [apart, behind]);
    await arrives(client, 'basic.cancel', 'heartbeat@0');
    expect(proxy.frames).toEqual([]);
    expect(() => proxy.inject('server', 9, [])).toThrow('connection 9 is not open');
  });
});
