import { connect, type Socket } from 'node:net';

import type { Direction, Frame, RawFrame } from './frames';
import { FrameError } from './frames';
import { Lane, type LaneHost } from './lane';
import type { FrameName } from './methods';
import { Outlet } from './outlet';
import type { Treatment } from './rules';

/** Where the broker listens. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** What a connection needs from the proxy. */
export interface ConnectionHost {
  observe(
    direction: Direction,
    connection: number,
    raw: RawFrame,
    name: FrameName,
  ): Frame | undefined;
  decide(frame: Frame): Treatment | undefined;
  isPaused(direction: Direction): boolean;
  /** Takes note of bytes that are no AMQP; the connection is destroyed. */
  failed(error: FrameError): void;
  /** Takes note that both sides are closed. */
  closed(connection: ProxiedConnection): void;
}

const opposite = { client: 'server', server: 'client' } as const;

/** One client's connection and the one to the broker that belongs to it. */
export class ProxiedConnection implements LaneHost {
  /** The socket each side talks to the proxy with. */
  private readonly sockets: Readonly<Record<Direction, Socket>>;
  private readonly lanes: Readonly<Record<Direction, Lane>>;
  /** Where the frames of each direction go: to the other side. */
  private readonly outlets: Readonly<Record<Direction, Outlet>>;
  private openSockets = 2;

  constructor(
    readonly number: number,
    client: Socket,
    target: Target,
    private readonly host: ConnectionHost,
  ) {
    const server = connect({ ...target, allowHalfOpen: true, noDelay: true });
    this.sockets = { client, server };
    this.lanes = { client: new Lane('client', this), server: new Lane('server', this) };
    this.outlets = { client: new Outlet(server), server: new Outlet(client) };
    this.attach('client');
    this.attach('server');
  }

  observe(direction: Direction, raw: RawFrame, name: FrameName): Frame | undefined {
    return this.host.observe(direction, this.number, raw, name);
  }

  decide(frame: Frame): Treatment | undefined {
    return this.host.decide(frame);
  }

  isPaused(direction: Direction): boolean {
    return this.host.isPaused(direction);
  }

  write(direction: Direction, part: Buffer): void {
    this.outlets[direction].write(part);
  }

  flush(direction: Direction): void {
    this.outlets[direction].flush();
  }

  /** Sends frames in this direction, behind everything that has arrived so far. */
  insert(direction: Direction, parts: readonly Buffer[]): void {
    this.lanes[direction].insert(parts);
  }

  insertBack(direction: Direction, parts: readonly Buffer[]): void {
    this.insert(opposite[direction], parts);
  }

  /** Passes on what a pause has kept back. */
  resume(): void {
    this.lanes.client.resume();
    this.lanes.server.resume();
  }

  /**
   * Cuts the connection at this point of one direction: what has been passed on reaches the other
   * side, with the end of the stream behind it; nothing else reaches either side.
   */
  cut(direction: Direction): void {
    this.closeLanes();
    this.sockets[direction].destroy();
    this.sockets[opposite[direction]].end();
  }

  /** Closes both sides at once. */
  destroy(): void {
    this.closeLanes();
    this.sockets.client.destroy();
    this.sockets.server.destroy();
  }

  private closeLanes(): void {
    this.lanes.client.close();
    this.lanes.server.close();
    this.sockets.client.resume();
    this.sockets.server.resume();
  }

  private attach(direction: Direction): void {
    const source = this.sockets[direction];
    const destination = this.sockets[opposite[direction]];
    const lane = this.lanes[direction];
    source.on('data', (chunk: Buffer) => this.receive(direction, chunk));
    // A reset tells no more than the 'close' that follows it.
    source.on('error', () => undefined);
    source.on('end', () => lane.finish(() => destination.end()));
    source.on('drain', () => destination.resume());
    source.on('close', () => {
      lane.finish(() => destination.destroySoon());
      this.lanes[opposite[direction]].close();
      destination.resume();
      this.openSockets -= 1;
      if (this.openSockets === 0) {
        this.host.closed(this);
      }
    });
  }

  private receive(direction: Direction, chunk: Buffer): void {
    try {
      this.lanes[direction].receive(chunk);
    } catch (error) {
      this.destroy();
      if (!(error instanceof FrameError)) {
        throw error;
      }
      this.host.failed(error);
    }
    if (this.sockets[opposite[direction]].writableNeedDrain) {
      this.sockets[direction].pause();
    }
  }
}
