import querystring from 'node:querystring';
import type { ConnectionManager, RawConnection } from './types';

/** The address of a server: an URL, its parts, or an URL with socket options of its own. */
export type ServerAddress =
  | string
  | { readonly hostname?: string; readonly port?: number; readonly vhost?: string }
  | { readonly url: string; readonly connectionOptions?: object };

/** The server at the other end of a connection. */
export interface Peer {
  /** The configured address that led to it; `undefined` if that is unknown. */
  readonly address: ServerAddress | undefined;
  /** The IP address and port of the socket. */
  readonly ip: string | undefined;
  readonly port: number | undefined;
  /** The name that the server reports for its cluster; `undefined` if it reports none. */
  readonly cluster: string | undefined;
}

/** The peer of the connection that a manager has open. */
export function peerOf(manager: ConnectionManager, connection: RawConnection): Peer {
  const { stream } = connection.connection as {
    readonly stream?: { readonly remoteAddress?: string; readonly remotePort?: number };
  };
  return {
    address: openedAddressOf(manager),
    ip: stream?.remoteAddress,
    port: stream?.remotePort,
    cluster: clusterOf(connection),
  };
}

/** Whether two connections lead to the same server in the same way. */
export function isSamePeer(one: Peer, other: Peer): boolean {
  return (
    one.address === other.address &&
    one.ip === other.ip &&
    one.port === other.port &&
    one.cluster === other.cluster
  );
}

/** The name that a server reports for its cluster; by default that of the node, whatever its cluster. */
export function clusterOf(connection: RawConnection): string | undefined {
  const { serverProperties } = connection.connection as {
    readonly serverProperties?: { readonly cluster_name?: unknown };
  };
  const name = serverProperties?.cluster_name;
  return typeof name === 'string' ? name : undefined;
}

/** An address as messages show it: host and port, without credentials. */
export function hostText(address: ServerAddress): string {
  const [host, port] = hostAndPort(address);
  return `${host || 'localhost'}${port === '' ? '' : `:${port}`}`;
}

/** The host of an address: a name, or an IP address without brackets. */
export function hostOf(address: ServerAddress): string {
  return hostAndPort(address)[0].replace(/^\[|\]$/g, '');
}

/** The virtual host that an address names. */
export function virtualHostOf(address: ServerAddress): string {
  if (typeof address === 'object' && !('url' in address)) return address.vhost ?? '/';
  const { pathname } = new URL(typeof address === 'string' ? address : address.url);
  return querystring.unescape(pathname.slice(1)) || '/';
}

function hostAndPort(address: ServerAddress): [host: string, port: string] {
  if (typeof address === 'object' && !('url' in address)) {
    return [address.hostname ?? '', String(address.port ?? '')];
  }
  const { hostname, port } = new URL(typeof address === 'string' ? address : address.url);
  return [hostname, port];
}

// The manager reports an address only in its `connect` event, which has passed when this library starts,
// and without the socket options. Without these fields every configured address is tried in its order.
function openedAddressOf(manager: ConnectionManager): ServerAddress | undefined {
  const { _urls, _currentUrl } = manager as unknown as {
    readonly _urls?: readonly ServerAddress[];
    readonly _currentUrl?: number;
  };
  return _urls?.[(_currentUrl ?? 0) - 1];
}
