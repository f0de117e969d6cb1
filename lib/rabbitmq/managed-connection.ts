import type { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import type { ServerVersion } from '../amqp/queue-declarations';
import { type Clock, within } from '../clock';
import { isSamePeer, type Peer, peerOf } from './peer';
import type { ConnectionManager, RawConnection } from './types';

/** How long golevelup's own declarations may take before consuming goes on without them. */
const SETUP_LIMIT = 10_000;

/** golevelup's connection, as the adapter needs it: the present amqplib connection, or the next one. */
export class ManagedConnection {
  #setUp: Promise<void> | undefined;
  #lostBy: Error | undefined;
  #peer: Peer | undefined;

  constructor(
    readonly golevelup: AmqpConnection,
    private readonly clock: Clock,
  ) {
    this.#manager.on('disconnect', ({ err }: { err?: Error }) => {
      this.#lostBy = err;
    });
    this.#manager.on('connect', () => this.#connected());
    this.#connected();
  }

  get #manager(): ConnectionManager {
    return this.golevelup.managedConnection;
  }

  /** The connection, if it is up. */
  get current(): RawConnection | undefined {
    return this.#manager.isConnected() ? this.#manager.connection : undefined;
  }

  /** The server that it leads to, or led to last; the same object for the same server. */
  get peer(): Peer | undefined {
    return this.#peer;
  }

  /**
   * Why a channel has ended: with its connection, which alone knows why, or by itself.
   * @param reason what the channel says.
   */
  reasonOf(raw: RawConnection, reason: Error): Error {
    return this.current === raw ? reason : (this.#lostBy ?? reason);
  }

  /**
   * Resolves with the connection once it is up and golevelup has declared its exchanges on it;
   * `undefined` where `signal` aborts before.
   */
  async ready(signal: AbortSignal): Promise<RawConnection | undefined> {
    while (!signal.aborted) {
      const current = this.current ?? (await this.#next(signal));
      if (current === undefined) return undefined;
      await within(this.clock, SETUP_LIMIT, this.#whenSetUp(), signal);
      if (this.current === current) return signal.aborted ? undefined : current;
    }
    return undefined;
  }

  #connected(): void {
    const { current } = this;
    if (current === undefined) return;
    const peer = peerOf(this.#manager, current);
    if (this.#peer === undefined || !isSamePeer(peer, this.#peer)) this.#peer = peer;
  }

  // One wait for all subscriptions: each is a listener on golevelup's channel, which warns of eleven.
  #whenSetUp(): Promise<void> {
    const ended = (): void => {
      this.#setUp = undefined;
    };
    this.#setUp ??= this.golevelup.managedChannel.waitForConnect().then(ended, ended);
    return this.#setUp;
  }

  #next(signal: AbortSignal): Promise<RawConnection | undefined> {
    const manager = this.#manager;
    return new Promise((resolve) => {
      const done = (): void => {
        manager.removeListener('connect', done);
        signal.removeEventListener('abort', done);
        resolve(this.current);
      };
      manager.on('connect', done);
      signal.addEventListener('abort', done, { once: true });
    });
  }
}

/** The version of the server at the other end: major and minor. */
export function serverVersionOf(connection: RawConnection): ServerVersion {
  const { serverProperties } = connection.connection as {
    readonly serverProperties?: { readonly version?: unknown };
  };
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(String(serverProperties?.version)) ?? [];
  return [Number(major ?? 0), Number(minor ?? 0)];
}
