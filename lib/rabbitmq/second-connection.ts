import { setMaxListeners } from 'node:events';
import type { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { type Clock, within } from '../clock';
import { texts } from '../log/texts';
import type { ConnectionManager, RawConnection } from './types';

type ManagerClass = new (
  urls: unknown,
  options?: Readonly<Record<string, unknown>>,
) => ConnectionManager;

/** How long the broker may take to answer while the connection opens, in ms. */
const OPENING_LIMIT = 10_000;
/** How long closing may take, in ms. */
const CLOSING_LIMIT = 1_000;

/**
 * A connection beside one of the application's, with its address and credentials, opened on first use.
 * Reconnects by itself until it is closed.
 */
export class SecondConnection {
  #manager: ConnectionManager | undefined;
  #lastError: unknown;
  #blocked = false;
  /** Ends what waits for the connection to come up. */
  readonly #closing = new AbortController();
  /** Destroys the socket, also one that is still opening. */
  #end = new AbortController();

  constructor(
    private readonly application: AmqpConnection,
    private readonly clock: Clock,
  ) {
    // Each message that waits for the connection listens: as many as all prefetches together.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Whether the broker has blocked the connection: nothing may be published for now. */
  get isBlocked(): boolean {
    return this.#blocked;
  }

  /** The amqplib connection once it is up. Rejects if it does not come up within `limitMs`. */
  async raw(limitMs: number): Promise<RawConnection> {
    const { signal } = this.#closing;
    if (!signal.aborted) {
      this.#manager ??= this.#open();
      if (!this.#manager.isConnected()) await this.#connected(this.#manager, limitMs);
      const { connection } = this.#manager;
      if (connection !== undefined && this.#manager.isConnected()) return connection;
    }
    throw this.#lastError ?? new Error(texts.noConnection);
  }

  /** Closes the connection within `limitMs`; one that does not answer is cut. Never rejects. */
  async close(limitMs: number): Promise<void> {
    this.#closing.abort();
    const closed = Promise.resolve(this.#manager?.close());
    await within(this.clock, Math.min(limitMs, CLOSING_LIMIT), closed);
    this.#end.abort();
  }

  async #connected(manager: ConnectionManager, limitMs: number): Promise<void> {
    let connected = (): void => {};
    const up = new Promise<void>((resolve) => {
      connected = resolve;
      manager.on('connect', connected);
    });
    await within(this.clock, limitMs, up, this.#closing.signal);
    manager.removeListener('connect', connected);
  }

  #open(): ConnectionManager {
    const { uri, connectionManagerOptions } = this.application.configuration;
    // Made by the class of golevelup's own manager: importing amqplib or the manager here would bring a
    // second copy of it into some applications.
    const Manager = this.application.managedConnection.constructor as unknown as ManagerClass;
    const connectionOptions = {
      timeout: OPENING_LIMIT,
      ...connectionManagerOptions?.connectionOptions,
    };
    // Read once per connection. Node's listener on a signal, and with it the socket, lives as long as the
    // signal: one for all would keep every connection that ever existed.
    Object.defineProperty(connectionOptions, 'signal', {
      enumerable: true,
      get: () => {
        this.#end = new AbortController();
        return this.#end.signal;
      },
    });
    const manager = new Manager(uri, {
      ...connectionManagerOptions,
      reconnectTimeInSeconds: 1,
      connectionOptions,
    });
    manager.on('blocked', () => {
      this.#blocked = true;
    });
    for (const event of ['unblocked', 'disconnect']) {
      manager.on(event, () => {
        this.#blocked = false;
      });
    }
    manager.on('connectFailed', ({ err }: { err: unknown }) => {
      this.#lastError = err;
    });
    // Rejects if credentials are refused; each message that waits in vain reports why.
    manager.connect().catch((error: unknown) => {
      this.#lastError = error;
    });
    return manager;
  }
}
