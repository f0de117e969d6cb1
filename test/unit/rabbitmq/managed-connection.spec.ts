import { beforeEach, describe, expect, it } from 'vitest';
import { ManagedConnection, serverVersionOf } from '../../../lib/rabbitmq/managed-connection';
import type { RawConnection } from '../../../lib/rabbitmq/types';
import { Gate } from '../../support/eventually';
import { FakeClock } from '../../support/fake-clock';
import { FakeAmqpConnection } from './fakes';

let golevelup: FakeAmqpConnection;
let clock: FakeClock;
let connection: ManagedConnection;
let closing: AbortController;

beforeEach(() => {
  golevelup = new FakeAmqpConnection();
  clock = new FakeClock();
  connection = new ManagedConnection(golevelup.asAmqp, clock);
  closing = new AbortController();
});

/** The promise's result so far. */
async function resultOf<T>(promise: Promise<T>): Promise<T | 'pending'> {
  await clock.endTurn();
  return Promise.race([promise, Promise.resolve('pending' as const)]);
}

describe('ready', () => {
  it('gives the connection that is up', async () => {
    const raw = golevelup.managedConnection.connects();
    expect(await connection.ready(closing.signal)).toBe(raw);
  });

  it('waits for the next one where none is up', async () => {
    const ready = connection.ready(closing.signal);
    expect(await resultOf(ready)).toBe('pending');
    const raw = golevelup.managedConnection.connects();
    expect(await ready).toBe(raw);
  });

  it("waits until golevelup's own declarations are made", async () => {
    const declared = new Gate();
    golevelup.declared = declared.promise;
    const raw = golevelup.managedConnection.connects();
    const ready = connection.ready(closing.signal);
    expect(await resultOf(ready)).toBe('pending');
    declared.open();
    expect(await ready).toBe(raw);
  });

  it('goes on without the declarations after 10 s: theirs is another channel', async () => {
    golevelup.declared = new Promise(() => undefined);
    const raw = golevelup.managedConnection.connects();
    const ready = connection.ready(closing.signal);
    await clock.pass(9_999);
    expect(await resultOf(ready)).toBe('pending');
    await clock.pass(1);
    expect(await ready).toBe(raw);
  });

  it('gives the newer connection where the first went during the declarations', async () => {
    const declared = new Gate();
    golevelup.declared = declared.promise;
    golevelup.managedConnection.connects();
    const ready = connection.ready(closing.signal);
    await clock.endTurn();
    const newer = golevelup.managedConnection.connects();
    declared.open();
    expect(await ready).toBe(newer);
  });

  it.each(['the connection', 'the declarations'])(
    'ends at once by the signal while it waits for %s',
    async (what) => {
      golevelup.declared = new Promise(() => undefined);
      if (what === 'the declarations') golevelup.managedConnection.connects();
      const ready = connection.ready(closing.signal);
      await clock.endTurn();
      closing.abort();
      expect(await resultOf(ready)).toBeUndefined();
      expect(clock.pending).toEqual([]);
    },
  );

  it('leaves no listener behind, and waits once for many subscriptions', async () => {
    const declared = new Gate();
    golevelup.declared = declared.promise;
    const ready = Array.from({ length: 20 }, () => connection.ready(new AbortController().signal));
    await clock.endTurn();
    const raw = golevelup.managedConnection.connects();
    await clock.endTurn();
    expect(golevelup.waits).toBe(1);
    declared.open();
    expect(await Promise.all(ready)).toEqual(ready.map(() => raw));
    expect(golevelup.managedConnection.listenerCount('connect')).toBe(0);
    await connection.ready(closing.signal);
    expect(golevelup.waits).toBe(2);
  });

  it('goes on where the wait for the declarations rejects', async () => {
    golevelup.declared = Promise.reject(new Error('closed'));
    const raw = golevelup.managedConnection.connects();
    expect(await connection.ready(closing.signal)).toBe(raw);
  });
});

describe('the reason of a lost channel', () => {
  it('is what the channel says while the connection is up', () => {
    const raw = golevelup.managedConnection.connects();
    const reason = new Error('406');
    expect(connection.reasonOf(raw.asRaw, reason)).toBe(reason);
  });

  it('is what ended the connection where that has gone', () => {
    const raw = golevelup.managedConnection.connects();
    const err = new Error('Heartbeat timeout');
    golevelup.managedConnection.loses(err);
    expect(connection.reasonOf(raw.asRaw, new Error('closed'))).toBe(err);
  });

  it('is what the channel says where nobody knows why the connection went', () => {
    const raw = golevelup.managedConnection.connects();
    golevelup.managedConnection.loses(undefined);
    const reason = new Error('closed');
    expect(connection.reasonOf(raw.asRaw, reason)).toBe(reason);
  });
});

describe('the version of the server', () => {
  const versionOf = (serverProperties: unknown) =>
    serverVersionOf({ connection: { serverProperties } } as unknown as RawConnection);

  it.each([
    ['3.10.8', [3, 10]],
    ['4.3.0-rc.1', [4, 3]],
    [undefined, [0, 0]],
    ['unknown', [0, 0]],
  ])('of %s is %j', (version, expected) => {
    expect(versionOf({ version })).toEqual(expected);
  });

  it('is 0.0 where the server says nothing', () => {
    expect(versionOf(undefined)).toEqual([0, 0]);
  });
});
