import { setMaxListeners } from 'node:events';
import type { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { type Clock, within } from '../clock';
import { CopyChannel } from './copy-channel';
import type { ConnectionManager, RawConnection } from './types';

type ManagerClass = new (
  urls: unknown,
  options?: Readonly<Record<string, unknown>>,
) => ConnectionManager;

/** How long the broker may take to answer while the connection opens, in ms. */
const OPENING_LIMIT = 10_000;
/** How long closing may take: what was published is confirmed or given up, and nothing is lost. */
const CLOSING_LIMIT = 1_000;

/**
 * The connection for copies: one beside each connection of the application, with its address and
 * credentials, opened on first use. Under a memory alarm the broker stops reading every connection that
 * has published, acknowledgements included; so nothing is ever published where deliveries are settled.
 */
export class CopyConnection {
  #manager: ConnectionManager | undefined;
  #channel: CopyChannel | undefined;
  #opening: Promise<CopyChannel | undefined> | undefined;
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
    // Each copy that waits for the connection listens: as many as all prefetches together.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Whether the broker has told this connection to publish nothing for now. */
  get isBlocked(): boolean {
    return this.#blocked;
  }

  /** Why there was no connection or channel the last time; for log lines. */
  get lastError(): unknown {
    return this.#lastError;
  }

  /** The amqplib connection once it is up; `undefined` where it does not come up in time. */
  async raw(limitMs: number): Promise<RawConnection | undefined> {
    const { signal } = this.#closing;
    if (signal.aborted) return undefined;
    this.#manager ??= this.#open();
    const manager = this.#manager;
    if (!manager.isConnected()) {
      let connected = (): void => {};
      const up = new Promise<void>((resolve) => {
        connected = resolve;
        manager.on('connect', connected);
      });
      await within(this.clock, limitMs, up, signal);
      manager.removeListener('connect', connected);
    }
    return manager.isConnected() ? manager.connection : undefined;
  }

  /** The confirm channel; a new one where there is none or the last has closed. */
  async channel(limitMs: number): Promise<CopyChannel | undefined> {
    if (this.#channel?.isOpen) return this.#channel;
    this.#opening ??= this.#openChannel(limitMs).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Closes the connection, within `limitMs`; one that does not answer is cut. Never rejects. */
  async close(limitMs: number): Promise<void> {
    this.#closing.abort();
    void this.#channel?.close();
    const closed = Promise.resolve(this.#manager?.close());
    await within(this.clock, Math.min(limitMs, CLOSING_LIMIT), closed);
    this.#end.abort();
  }

  async #openChannel(limitMs: number): Promise<CopyChannel | undefined> {
    const connection = await this.raw(limitMs);
    if (connection === undefined) return undefined;
    try {
      this.#channel = new CopyChannel(await connection.createConfirmChannel());
      return this.#channel;
    } catch (error) {
      this.#lastError = error; // The connection went meanwhile; the next call finds another.
      return undefined;
    }
  }

  #open(): ConnectionManager {
    const { uri, connectionManagerOptions } = this.application.configuration;
    // Made by the class that golevelup's own manager has: importing amqplib or the manager here would
    // bring a second copy of it into some applications.
    const Manager = this.application.managedConnection.constructor as unknown as ManagerClass;
    const connectionOptions = {
      timeout: OPENING_LIMIT,
      ...connectionManagerOptions?.connectionOptions,
    };
    // Read once a connection. Node's listener on a signal, and with it the socket, lives as long as the
    // signal: one for all would keep each connection that there ever was.
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
    // Rejects where credentials are refused; each copy that waits in vain tells why.
    manager.connect().catch((error: unknown) => {
      this.#lastError = error;
    });
    return manager;
  }
}
