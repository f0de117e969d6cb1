import { type Clock, sleep } from '../clock';
import { texts } from '../log/texts';
import type { ManagedConnection } from './managed-connection';
import { clusterOf, hostText, type Peer } from './peer';
import { isSameBroker } from './same-broker';
import { type AddressToTry, addressesFor } from './server-addresses';
import { SingleConnection } from './single-connection';
import type { RawConnection } from './types';

/** An address leads to another broker than the one that the application consumes from. */
class OtherBrokerError extends Error {
  override readonly name = 'OtherBrokerError';
}

/** Between two rounds over the addresses, in ms. */
const PAUSE = 1_000;
const CLOSING_LIMIT = 1_000;

/**
 * A connection to the broker of a peer: to the very server if it can be reached, else to another node of
 * its cluster. Tries until it is connected or closed; does not reconnect.
 */
export class PeerConnection {
  /** Resolves once it is connected, never if it is closed before. */
  readonly opened: Promise<RawConnection>;
  readonly #closing = new AbortController();
  #connection: SingleConnection | undefined;
  #raw: RawConnection | undefined;
  #lastError: unknown;

  constructor(
    private readonly application: ManagedConnection,
    readonly peer: Peer,
    private readonly clock: Clock,
  ) {
    this.opened = this.#open();
  }

  /** The connection, if it is open. */
  get current(): RawConnection | undefined {
    return this.#connection?.isOpen ? this.#raw : undefined;
  }

  /** Whether it was open and has ended, or was closed. */
  get isOver(): boolean {
    return this.#closing.signal.aborted || (this.#raw !== undefined && this.current === undefined);
  }

  get isBlocked(): boolean {
    return this.#connection?.isBlocked ?? false;
  }

  /** Why it is not connected yet. */
  get lastError(): unknown {
    return this.#lastError;
  }

  /** Never rejects. */
  async close(limitMs: number): Promise<void> {
    this.#closing.abort();
    await this.#connection?.close(limitMs);
  }

  async #open(): Promise<RawConnection> {
    const { signal } = this.#closing;
    for (;;) {
      const raw = await this.#tryAll();
      if (raw !== undefined) return raw;
      await sleep(this.clock, PAUSE, signal);
      if (signal.aborted) return new Promise(() => {});
    }
  }

  async #tryAll(): Promise<RawConnection | undefined> {
    let reason: unknown;
    try {
      for await (const address of addressesFor(this.application.golevelup, this.peer)) {
        if (this.#closing.signal.aborted) return undefined;
        try {
          return await this.#try(address);
        } catch (error) {
          // More to the point than that another server could not be reached.
          if (!(reason instanceof OtherBrokerError)) reason = error;
        }
      }
    } catch (error) {
      reason = error; // The application's findServers failed.
    }
    this.#lastError = reason;
    return undefined;
  }

  async #try({ address, ip }: AddressToTry): Promise<RawConnection> {
    const { application, peer, clock } = this;
    const connection = new SingleConnection(application.golevelup, address, ip, clock);
    this.#connection = connection;
    const raw = await connection.opened;
    if (await isSameBroker(application.current, raw, peer.cluster, clock)) {
      this.#raw = raw;
      return raw;
    }
    await connection.close(CLOSING_LIMIT);
    throw new OtherBrokerError(texts.otherBroker(hostText(address), clusterOf(raw), peer.cluster));
  }
}
