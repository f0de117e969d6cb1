import { AsyncResource } from 'node:async_hooks';
import { setMaxListeners } from 'node:events';
import { type Clock, resultWithin } from '../clock';
import { texts } from '../log/texts';
import type { ManagedConnection } from './managed-connection';
import { PeerConnection } from './peer-connection';
import type { RawConnection } from './types';

const CLOSING_LIMIT = 1_000;

/**
 * A connection beside one of the application's, with its credentials and options, opened on first use. It
 * leads to the broker that the application's connection leads to: if that one reconnects to another
 * server, so does this one. Opened again on the next use when it has ended.
 */
export class SecondConnection {
  #peerConnection: PeerConnection | undefined;
  /** Ends what waits for the connection to come up. */
  readonly #closing = new AbortController();
  // Opened on first use, which must not put its reconnects into the context of one message.
  readonly #context = new AsyncResource('SettleConnection');

  constructor(
    private readonly application: ManagedConnection,
    private readonly clock: Clock,
  ) {
    // Each message that waits for the connection listens: as many as all prefetches together.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Whether the broker has blocked the connection: nothing may be published for now. */
  get isBlocked(): boolean {
    return this.#present?.isBlocked ?? false;
  }

  /** The amqplib connection, if it is up and leads where the application's does. */
  get current(): RawConnection | undefined {
    return this.#present?.current;
  }

  /**
   * The amqplib connection once it is up. Rejects if it does not come up within `limitMs`, or if the
   * application's connection moves to another server meanwhile.
   */
  async raw(limitMs: number): Promise<RawConnection> {
    const connection = this.#closing.signal.aborted ? undefined : this.#opening();
    if (connection === undefined) throw new Error(texts.noConnection);
    const { signal } = this.#closing;
    const raw = await resultWithin(this.clock, limitMs, connection.opened, signal);
    if (raw !== undefined && connection === this.#present && raw === connection.current) return raw;
    throw connection.lastError ?? new Error(texts.noConnection);
  }

  /** Closes the connection within `limitMs`; one that does not answer is cut. Never rejects. */
  async close(limitMs: number): Promise<void> {
    this.#closing.abort();
    await this.#peerConnection?.close(limitMs);
  }

  // The connection, unless the application's leads elsewhere now: nothing may be published there.
  get #present(): PeerConnection | undefined {
    const connection = this.#peerConnection;
    return connection?.peer === this.application.peer ? connection : undefined;
  }

  #opening(): PeerConnection | undefined {
    const { peer } = this.application;
    if (peer === undefined) return undefined;
    const present = this.#present;
    if (present !== undefined && !present.isOver) return present;
    void this.#peerConnection?.close(CLOSING_LIMIT);
    this.#peerConnection = this.#context.runInAsyncScope(
      () => new PeerConnection(this.application, peer, this.clock),
    );
    return this.#peerConnection;
  }
}
