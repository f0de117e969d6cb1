import type { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { describe, expect, it } from 'vitest';
import { hostText, type Peer, type ServerAddress, virtualHostOf } from '../../../lib/rabbitmq/peer';
import { addressesFor } from '../../../lib/rabbitmq/server-addresses';

type ManagerOptions = AmqpConnection['configuration']['connectionManagerOptions'];

function applicationWith(uri: unknown, connectionManagerOptions: unknown = {}): AmqpConnection {
  return {
    configuration: {
      uri,
      connectionManagerOptions: connectionManagerOptions as NonNullable<ManagerOptions>,
    },
  } as AmqpConnection;
}

function peerAt(address: ServerAddress | undefined, ip?: string): Peer {
  return { address, ip, port: 5672, cluster: 'c' };
}

async function listed(application: AmqpConnection, peer: Peer) {
  const all = [];
  for await (const each of addressesFor(application, peer)) all.push(each);
  return all;
}

describe('the addresses at which a broker may be reached', () => {
  it('begin with the IP address of the peer, then its host, then the others', async () => {
    const application = applicationWith(['amqp://a', 'amqp://b', 'amqp://c']);
    expect(await listed(application, peerAt('amqp://b', '10.0.0.2'))).toEqual([
      { address: 'amqp://b', ip: '10.0.0.2' },
      { address: 'amqp://b' },
      { address: 'amqp://a' },
      { address: 'amqp://c' },
    ]);
  });

  it.each(['amqp://10.0.0.2:5673/v', 'amqps://u:p@[::1]'])('name %s once', async (uri) => {
    expect(await listed(applicationWith(uri), peerAt(uri, '::1'))).toEqual([
      { address: uri, ip: '::1' },
    ]);
  });

  it('are all that are configured if the one of the peer is unknown', async () => {
    const application = applicationWith(['amqp://a', 'amqp://b']);
    expect(await listed(application, peerAt(undefined, '10.0.0.2'))).toEqual([
      { address: 'amqp://a' },
      { address: 'amqp://b' },
    ]);
  });

  it('leave other virtual hosts out', async () => {
    const application = applicationWith(['amqp://a', 'amqp://a/v', 'amqp://b/%76', 'amqp://b/w']);
    expect(await listed(application, peerAt('amqp://a/v'))).toEqual([
      { address: 'amqp://a/v' },
      { address: 'amqp://b/%76' },
    ]);
  });

  it.each([
    ['a promise', async () => ['amqp://found']],
    ['one address', async () => 'amqp://found'],
    ['a callback', (done: (error: unknown, found: unknown) => void) => done(null, 'amqp://found')],
  ])('are those of findServers: %s', async (_name, findServers) => {
    const application = applicationWith('amqp://ignored', { findServers });
    expect(await listed(application, peerAt('amqp://a'))).toEqual([
      { address: 'amqp://a' },
      { address: 'amqp://found' },
    ]);
  });

  it('end with the error of findServers', async () => {
    const failing = { findServers: async () => Promise.reject(new Error('no registry')) };
    await expect(listed(applicationWith([], failing), peerAt(undefined))).rejects.toThrow(
      'no registry',
    );
  });
});

describe('an address', () => {
  it.each<[ServerAddress, string, string]>([
    ['amqp://user:secret@host:5673', 'host:5673', '/'],
    ['amqps://host/', 'host', '/'],
    ['amqp://host/a%2Fb?heartbeat=5', 'host', 'a/b'],
    [{ hostname: 'host', port: 1, vhost: 'v' }, 'host:1', 'v'],
    [{}, 'localhost', '/'],
    [{ url: 'amqp://u:p@host/v', connectionOptions: {} }, 'host', 'v'],
  ])('%o is shown without credentials, and names a virtual host', (address, text, vhost) => {
    expect(hostText(address)).toBe(text);
    expect(virtualHostOf(address)).toBe(vhost);
  });
});
