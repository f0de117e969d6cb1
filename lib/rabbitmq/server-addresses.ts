import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { hostOf, type Peer, type ServerAddress, virtualHostOf } from './peer';

/** An address to try. */
export interface AddressToTry {
  readonly address: ServerAddress;
  /** The IP address to connect to instead of asking for that of the host. */
  readonly ip?: string;
}

/**
 * Where the cluster of a peer may be reached, in the order of preference: at the peer's own IP address, at
 * its host, then at the other addresses of the application for the same virtual host.
 */
export async function* addressesFor(
  application: AmqpConnection,
  { address, ip }: Peer,
): AsyncGenerator<AddressToTry> {
  if (address !== undefined) {
    if (ip !== undefined) yield { address, ip };
    if (ip === undefined || isIP(hostOf(address)) === 0) yield { address };
  }
  for (const other of await configuredAddresses(application)) {
    const isTried = isDeepStrictEqual(other, address);
    if (isTried || (address && virtualHostOf(other) !== virtualHostOf(address))) continue;
    yield { address: other };
  }
}

async function configuredAddresses({
  configuration: { uri, connectionManagerOptions },
}: AmqpConnection): Promise<readonly ServerAddress[]> {
  const findServers = connectionManagerOptions?.findServers as FindServers | undefined;
  const found = findServers === undefined ? uri : await asked(findServers);
  return [found ?? []].flat() as readonly ServerAddress[];
}

type Callback = (error: unknown, servers?: unknown) => void;
type FindServers = (callback?: Callback) => unknown;

// As the manager asks: a function with a parameter takes a callback.
function asked(findServers: FindServers): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const callback: Callback = (error, servers) => (error ? reject(error) : resolve(servers));
    if (findServers.length > 0) findServers(callback);
    else resolve(findServers());
  });
}
