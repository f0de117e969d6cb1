import type { LookupFunction } from 'node:net';
import type { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { type Clock, within } from '../clock';
import type { ServerAddress } from './peer';
import type { ConnectionManager, RawConnection } from './types';

type ManagerClass = new (
  urls: readonly unknown[],
  options: Readonly<Record<string, unknown>>,
) => ConnectionManager;

/** How long the server may take to answer while the connection opens, in ms. */
const OPENING_LIMIT = 10_000;
/** How long closing may take, in ms. */
const CLOSING_LIMIT = 1_000;
/** Never waited for: the connection is closed when it fails or ends. */
const RECONNECT_SECONDS = 0.001;

/** One connection to one address with the options of the application's own; it does not reconnect. */
export class SingleConnection {
  /** Rejects if the connection fails. */
  readonly opened: Promise<RawConnection>;
  readonly #manager: ConnectionManager;
  /** Destroys the socket, also one that is still opening. */
  readonly #end = new AbortController();
  #blocked = false;
  #closed = false;

  /** @param ip the IP address to connect to instead of asking for that of the host. */
  constructor(
    application: AmqpConnection,
    address: ServerAddress,
    ip: string | undefined,
    private readonly clock: Clock,
  ) {
    const { connectionManagerOptions } = application.configuration;
    const own =
      typeof address === 'object' && 'url' in address ? address.connectionOptions : undefined;
    // Made by the class of golevelup's own manager: importing amqplib or the manager here would bring a
    // second copy of it into some applications.
    const Manager = application.managedConnection.constructor as unknown as ManagerClass;
    this.#manager = new Manager(
      [typeof address === 'object' && 'url' in address ? address.url : address],
      {
        ...connectionManagerOptions,
        findServers: undefined,
        reconnectTimeInSeconds: RECONNECT_SECONDS,
        connectionOptions: {
          timeout: OPENING_LIMIT,
          ...(own ?? connectionManagerOptions?.connectionOptions),
          ...(ip !== undefined && { lookup: lookupOf(ip) }),
          signal: this.#end.signal,
        },
      },
    );
    this.opened = this.#open();
    this.opened.catch(() => this.close(CLOSING_LIMIT));
  }

  get isOpen(): boolean {
    return !this.#closed && this.#manager.isConnected();
  }

  /** Whether the server has blocked the connection: nothing may be published for now. */
  get isBlocked(): boolean {
    return this.#blocked && this.isOpen;
  }

  /** Closes the connection; one that does not answer within `limitMs` is cut. Never rejects. */
  async close(limitMs: number): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // The manager arms its timer for another try after its event: closed before that, it would keep it.
    await Promise.resolve();
    if (!this.#manager.isConnected()) this.#end.abort();
    const closed = Promise.resolve(this.#manager.close());
    await within(this.clock, Math.min(limitMs, CLOSING_LIMIT), closed);
    this.#end.abort();
  }

  #open(): Promise<RawConnection> {
    const manager = this.#manager;
    return new Promise((resolve, reject) => {
      manager.on('connect', ({ connection }) => resolve(connection as unknown as RawConnection));
      manager.on('connectFailed', ({ err }) => reject(err));
      manager.on('disconnect', () => void this.close(CLOSING_LIMIT));
      manager.on('blocked', () => {
        this.#blocked = true;
      });
      manager.on('unblocked', () => {
        this.#blocked = false;
      });
      manager.connect().catch(reject);
    });
  }
}

function lookupOf(ip: string): LookupFunction {
  const family = ip.includes(':') ? 6 : 4;
  return (_host, { all }, done) =>
    all ? done(null, [{ address: ip, family }]) : done(null, ip, family);
}
