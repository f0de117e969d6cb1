import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

import { expect } from 'vitest';
import {
  AmqpProxy,
  argument,
  contentBody,
  contentHeader,
  FrameParser,
  heartbeat,
  method,
} from '../../proxy';
import { nameOf, type RawFrame } from '../../proxy/frames';

/** One end of a TCP connection that sends hand-made bytes and keeps what it receives. */
export class Peer {
  /** The frames received, as `method` or `method@channel` when the channel is not 1. */
  readonly frames: string[] = [];
  readonly raw: RawFrame[] = [];
  private readonly chunks: Buffer[] = [];
  private readonly parser = new FrameParser();
  private sawEnd = false;

  constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk);
      this.parser.push(chunk, (frame) => {
        this.raw.push(frame);
        const at = frame.channel === 1 ? '' : `@${frame.channel}`;
        this.frames.push(`${nameOf(frame)}${at}`);
      });
    });
    socket.on('end', () => {
      this.sawEnd = true;
    });
    socket.on('close', () => {
      this.sawEnd = true;
    });
    socket.on('error', () => undefined);
  }

  get received(): Buffer {
    return Buffer.concat(this.chunks);
  }

  /** Whether the other end has closed or reset the connection. */
  get isEnded(): boolean {
    return this.sawEnd;
  }

  send(...frames: Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }
}

/** A broker that accepts connections and does nothing by itself. */
export class SilentBroker {
  readonly peers: Peer[] = [];
  readonly url: string;

  private constructor(private readonly server: Server) {
    const { port } = server.address() as AddressInfo;
    this.url = `amqp://guest:secret@127.0.0.1:${port}/some%2Fhost?heartbeat=5`;
    server.on('connection', (socket) => this.peers.push(new Peer(socket)));
  }

  static async start(): Promise<SilentBroker> {
    const server = createServer({ noDelay: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new SilentBroker(server);
  }

  /** Stops listening; connections go on. */
  stopListening(): void {
    this.server.close();
  }

  stop(): void {
    this.stopListening();
    for (const peer of this.peers) {
      peer.socket.destroy();
    }
  }
}

/** Opens a connection the way a client does. */
export async function connectTo(url: string): Promise<Peer> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const peer = new Peer(socket);
  await once(socket, 'connect');
  return peer;
}

/** Repeats an assertion until it holds, for as long as a slow machine may need. */
export function eventually<Value>(read: () => Value) {
  return expect.poll(read, { timeout: 5000, interval: 5 });
}

/** Resolves when the other end has received exactly these frames. */
export function arrives(peer: Peer, ...frames: string[]): Promise<void> {
  return eventually(() => peer.frames).toEqual(frames);
}

/** Resolves when the connection is over for all of these. */
export function allEnd(...peers: Peer[]): Promise<void> {
  return eventually(() => peers.every((peer) => peer.isEnded)).toBe(true);
}

/** Resolves when a frame has gone from one end to the other. */
export async function passes(from: Peer, to: Peer, frame = heartbeat): Promise<void> {
  const before = to.frames.length;
  from.send(frame);
  await eventually(() => to.frames.length).toBe(before + 1);
}

/** A silent broker, a proxy in front of it, and clients that connect to the proxy. */
export class Bench {
  private readonly clients: Peer[] = [];

  private constructor(
    readonly broker: SilentBroker,
    readonly proxy: AmqpProxy,
  ) {}

  static async start(): Promise<Bench> {
    const broker = await SilentBroker.start();
    return new Bench(broker, await AmqpProxy.start(broker.url));
  }

  /** A client, and the broker's end of the connection that belongs to it. */
  async connect(): Promise<{ client: Peer; server: Peer }> {
    const { peers } = this.broker;
    const before = peers.length;
    const client = await this.dial();
    await eventually(() => peers.length).toBeGreaterThan(before);
    const server = peers[before];
    if (server === undefined) {
      throw new Error('the proxy has not connected to the broker');
    }
    return { client, server };
  }

  /** A client of the proxy, whether or not the proxy lets it through. */
  async dial(): Promise<Peer> {
    const client = await connectTo(this.proxy.url);
    this.clients.push(client);
    return client;
  }

  async stop(): Promise<void> {
    for (const client of this.clients) {
      client.socket.destroy();
    }
    await this.proxy.stop();
    this.broker.stop();
  }
}

/** `basic.publish` to the default exchange, with its content. */
export function publish(routingKey: string, body = 'body', channel = 1): Buffer {
  return Buffer.concat([publishMethod(routingKey, channel), content(body, channel)]);
}

/** `basic.publish` to the default exchange, without the content that has to follow. */
export function publishMethod(routingKey: string, channel = 1): Buffer {
  const { short, text, bits } = argument;
  return method('basic.publish', channel, short(0), text(''), text(routingKey), bits(true));
}

/** `basic.deliver` with its content. */
export function deliver(deliveryTag: number, body = 'body', channel = 1): Buffer {
  const { text, longLong, bits } = argument;
  const values = [text('tag'), longLong(deliveryTag), bits(true), text('events'), text('key')];
  return Buffer.concat([method('basic.deliver', channel, ...values), content(body, channel)]);
}

/** A content header and its body, in two body frames when it is longer than one octet. */
export function content(body: string, channel = 1): Buffer {
  const bytes = Buffer.from(body);
  const bodies = [bytes.subarray(0, 1), bytes.subarray(1)].filter((part) => part.length > 0);
  const header = contentHeader(channel, bytes.length);
  return Buffer.concat([header, ...bodies.map((part) => contentBody(channel, part))]);
}

/** `queue.declare` of a durable queue. */
export function declare(queue: string, channel = 1): Buffer {
  const { short, text, bits, long } = argument;
  return method('queue.declare', channel, short(0), text(queue), bits(false, true), long(0));
}
