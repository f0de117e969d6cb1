import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AmqpProxy,
  basicAck,
  fromClient,
  fromServer,
  heartbeat,
  protocolHeader,
} from '../../proxy';
import {
  allEnd,
  arrives,
  Bench,
  content,
  deliver,
  eventually,
  type Peer,
  passes,
  publish,
  publishMethod,
} from './peers';

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

describe('cut', () => {
  it('cuts before a frame, after passing on the earlier ones', async () => {
    const rule = proxy.cutWhen(fromClient('basic.publish'), { before: true });
    client.send(basicAck(1, 1), publish('key'), heartbeat);
    await allEnd(client, server);
    expect(server.frames).toEqual(['basic.ack']);
    expect(rule.matched).toBe(1);
    const next = await bench.connect();
    next.client.send(publish('key'));
    await arrives(next.server, ...published);
  });

  it('cuts after a frame and its content, and passes on nothing further', async () => {
    proxy.cutWhen(fromClient('basic.publish'), { before: false });
    client.send(publishMethod('key'));
    await proxy.waitFor(fromClient('basic.publish'));
    client.send(content('body'), heartbeat);
    await allEnd(client, server);
    expect(server.frames).toEqual(published);
    await eventually(() => proxy.openConnections).toEqual([]);
  });

  it('cuts between a method and its bodies', async () => {
    proxy.cutWhen(fromClient('content.body'), { before: true });
    client.send(publish('key'));
    await allEnd(client, server);
    expect(server.frames).toEqual(['basic.publish', 'content.header']);
  });

  it('passes on a partial content of another channel before it cuts', async () => {
    proxy.cutWhen(fromClient('basic.ack'), { before: true });
    client.send(publishMethod('key', 2), basicAck(1, 1));
    await allEnd(client, server);
    expect(server.frames).toEqual(['basic.publish@2']);
  });

  it('cuts in the middle of the bodies', async () => {
    proxy.cutWhen(fromServer('content.body'), { before: false });
    server.send(deliver(1));
    await allEnd(client, server);
    expect(client.frames).toEqual(delivered.slice(0, 3));
  });

  it('cuts the first connections, as many as wanted', async () => {
    proxy.cutWhen(fromClient('protocol.header'), { before: true, times: 2 });
    const [second, third] = [await bench.connect(), await bench.connect()];
    client.send(protocolHeader);
    second.client.send(protocolHeader);
    await allEnd(client, second.client);
    await passes(third.client, third.server, protocolHeader);
    expect([server.frames, second.server.frames]).toEqual([[], []]);
  });

  it('cuts every connection', async () => {
    const other = await bench.connect();
    proxy.cutAll();
    const peers = [client, server, other.client, other.server];
    await allEnd(...peers);
  });
});

describe('refuse and pause', () => {
  it('refuses new connections and keeps old ones', async () => {
    proxy.refuse(true);
    const refused = await bench.dial();
    await allEnd(refused);
    expect(proxy.refusedCount).toBe(1);
    await passes(client, server);
    proxy.refuse(false);
    const next = await bench.connect();
    await passes(next.client, next.server);
  });

  it('passes nothing and closes nothing while paused', async () => {
    proxy.pause();
    client.send(basicAck(1, 1));
    server.send(heartbeat);
    await proxy.waitFor(fromClient('basic.ack'));
    await proxy.waitFor(fromServer('heartbeat'));
    client.socket.end();
    await eventually(() => proxy.openConnections).toEqual([1]);
    expect([client.frames, server.frames, server.isEnded]).toEqual([[], [], false]);
    proxy.resume();
    await arrives(client, 'heartbeat@0');
    await arrives(server, 'basic.ack');
    await allEnd(server);
  });

  it('pauses one direction', async () => {
    proxy.pause('server');
    server.send(basicAck(1, 1));
    await proxy.waitFor(fromServer('basic.ack'));
    await passes(client, server);
    expect(client.frames).toEqual([]);
  });
});
