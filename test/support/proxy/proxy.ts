import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

import { type ConnectionHost, ProxiedConnection, type Target } from './connection';
import { FaultRules } from './fault-rules';
import { FrameLog, type FrameWaitOptions } from './frame-log';
import { type Direction, detailsOf, type Frame, type FramePredicate } from './frames';
import type { FrameName } from './methods';

const directions = ['client', 'server'] as const;

/**
 * A TCP proxy in front of a broker that understands AMQP 0.9.1 frames: it records them and puts
 * faults between them. Frames are recorded as they arrive, whatever a rule does with them then;
 * frames that rules and `inject` make up are not recorded.
 */
export class AmqpProxy extends FaultRules {
  /** The target's URL with the proxy's own host and port. */
  readonly url: string;
  /** Why connections were destroyed on which something other than AMQP 0.9.1 arrived. */
  readonly errors: Error[] = [];
  private readonly log = new FrameLog();
  private readonly connections = new Map<number, ProxiedConnection>();
  private readonly paused = new Set<Direction>();
  private refusing = false;
  private accepted = 0;
  private refused = 0;
  private whenAllClosed: () => void = () => undefined;

  private constructor(
    private readonly server: Server,
    private readonly target: Target,
    targetUrl: URL,
  ) {
    super();
    const { port } = server.address() as AddressInfo;
    const url = new URL(targetUrl);
    url.hostname = '127.0.0.1';
    url.port = String(port);
    this.url = url.href;
    server.on('connection', (socket) => this.accept(socket));
  }

  /** Starts a proxy in front of the broker with this `amqp:` URL, on a free local port. */
  static async start(targetUrl: string): Promise<AmqpProxy> {
    const url = new URL(targetUrl);
    if (url.protocol !== 'amqp:') {
      throw new Error(`the proxy needs an amqp: URL, not ${url.protocol}`);
    }
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const target = { host, port: url.port === '' ? 5672 : Number(url.port) };
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new AmqpProxy(server, target, url);
  }

  /** Every recorded frame, in the order of arrival. */
  get frames(): readonly Frame[] {
    return this.log.frames;
  }

  /** Whether frames are kept in `frames`; `count` and waiting for new frames work without. */
  get recording(): boolean {
    return this.log.recording;
  }

  set recording(recording: boolean) {
    this.log.recording = recording;
  }

  /** How many connections the proxy has accepted; also the number of the latest one. */
  get connectionCount(): number {
    return this.accepted;
  }

  /** The numbers of the connections that are not fully closed. */
  get openConnections(): readonly number[] {
    return [...this.connections.keys()];
  }

  /** How many connections the proxy has refused. */
  get refusedCount(): number {
    return this.refused;
  }

  /** How many frames of this kind have arrived since the start, or since `clearFrames`. */
  count(direction: Direction, method: FrameName): number {
    return this.log.count(direction, method);
  }

  /** Forgets every recorded frame, and counts from zero again. */
  clearFrames(): void {
    this.log.clear();
  }

  /** Resolves with a matching frame, recorded already or still to come. */
  waitFor(predicate: FramePredicate, options: FrameWaitOptions = {}): Promise<Frame> {
    return this.log.waitFor(predicate, options);
  }

  /** Destroys both sides of every connection. */
  cutAll(): void {
    for (const connection of this.connections.values()) {
      connection.destroy();
    }
  }

  /** Destroys new connections at once while `true`; those that exist go on. */
  refuse(refusing: boolean): void {
    this.refusing = refusing;
  }

  /** Makes every link half-open: nothing passes and nothing closes, in one direction or both. */
  pause(direction?: Direction): void {
    for (const paused of direction === undefined ? directions : [direction]) {
      this.paused.add(paused);
    }
  }

  /** Ends every pause: what it has kept back goes on. */
  resume(): void {
    this.paused.clear();
    for (const connection of this.connections.values()) {
      connection.resume();
    }
  }

  /** Sends frames as if this side of the connection had sent them. */
  inject(direction: Direction, connection: number, frames: readonly Buffer[]): void {
    const found = this.connections.get(connection);
    if (found === undefined) {
      throw new Error(`connection ${connection} is not open`);
    }
    found.insert(direction, frames);
  }

  /** Back to a plain proxy: no rule, no pause, no refusal and an empty record. */
  reset(): void {
    this.endRules();
    this.resume();
    this.refuse(false);
    this.clearFrames();
  }

  /** Destroys every connection, stops listening, and rejects what tests still wait for. */
  async stop(): Promise<void> {
    const reason = 'the proxy is stopped';
    this.refuse(true);
    this.cutAll();
    this.abandonRules(reason);
    this.log.abandon(reason);
    const allClosed = new Promise<void>((resolve) => {
      this.whenAllClosed = resolve;
    });
    const serverClosed = new Promise<void>((resolve) => {
      this.server.close(() => resolve());
    });
    if (this.connections.size > 0) {
      await allClosed;
    }
    await serverClosed;
  }

  private accept(socket: Socket): void {
    if (this.refusing) {
      this.refused += 1;
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    this.accepted += 1;
    const connection = new ProxiedConnection(this.accepted, socket, this.target, this.host);
    this.connections.set(connection.number, connection);
  }

  private readonly host: ConnectionHost = {
    observe: (direction, connection, raw, name) => {
      this.log.tally(direction, name);
      if (this.rules.isEmpty && !this.log.needsFrames) {
        return undefined;
      }
      const details = detailsOf(raw, name);
      const frame = { direction, connection, channel: raw.channel, method: name, details };
      this.log.add(frame);
      return frame;
    },
    decide: (frame) => this.rules.decide(frame),
    isPaused: (direction) => this.paused.has(direction),
    failed: (error) => this.errors.push(error),
    closed: (connection) => {
      this.connections.delete(connection.number);
      if (this.connections.size === 0) {
        this.whenAllClosed();
      }
    },
  };
}
