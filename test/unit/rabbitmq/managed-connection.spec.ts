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
  it('resolves with the current connection', async () => {
    const raw = golevelup.managedConnection.connects();
    expect(await connection.ready(closing.signal)).toBe(raw);
  });

  it('waits for the next connection if there is none', async () => {
    const ready = connection.ready(closing.signal);
    expect(await resultOf(ready)).toBe('pending');
    const raw = golevelup.managedConnection.connects();
    expect(await ready).toBe(raw);
  });

  it("waits for golevelup's own declarations", async () => {
    const declared = new Gate();
    golevelup.declared = declared.promise;
    const raw = golevelup.managedConnection.connects();
    const ready = connection.ready(closing.signal);
    expect(await resultOf(ready)).toBe('pending');
    declared.open();
    expect(await ready).toBe(raw);
  });

  it('waits for the declarations for at most 10 s', async () => {
    golevelup.declared = new Promise(() => undefined);
    const raw = golevelup.managedConnection.connects();
    const ready = connection.ready(closing.signal);
    await clock.pass(9_999);
    expect(await resultOf(ready)).toBe('pending');
    await clock.pass(1);
    expect(await ready).toBe(raw);
  });

  it('resolves with the newer connection if the first was lost meanwhile', async () => {
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
    'ends immediately on abort while it waits for %s',
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

  it('leaves no listener and waits once for many subscriptions', async () => {
    const declared = new Gate();
    golevelup.declared = declared.promise;
    const listeners = golevelup.managedConnection.listenerCount('connect');
    const ready = Array.from({ length: 20 }, () => connection.ready(new AbortController().signal));
    await clock.endTurn();
    const raw = golevelup.managedConnection.connects();
    await clock.endTurn();
    expect(golevelup.waits).toBe(1);
    declared.open();
    expect(await Promise.all(ready)).toEqual(ready.map(() => raw));
    expect(golevelup.managedConnection.listenerCount('connect')).toBe(listeners);
    await connection.ready(closing.signal);
    expect(golevelup.waits).toBe(2);
  });

  it('continues if the wait for the declarations rejects', async () => {
    golevelup.declared = Promise.reject(new Error('closed'));
    const raw = golevelup.managedConnection.connects();
    expect(await connection.ready(closing.signal)).toBe(raw);
  });
});

describe('reasonOf', () => {
  it('is the reason of the channel while the connection is open', () => {
    const raw = golevelup.managedConnection.connects();
    const reason = new Error('406');
    expect(connection.reasonOf(raw.asRaw, reason)).toBe(reason);
  });

  it('is the reason of the connection if that was lost', () => {
    const raw = golevelup.managedConnection.connects();
    const err = new Error('Heartbeat timeout');
    golevelup.managedConnection.loses(err);
    expect(connection.reasonOf(raw.asRaw, new Error('closed'))).toBe(err);
  });

  it('is the reason of the channel if the connection was lost without a reason', () => {
    const raw = golevelup.managedConnection.connects();
    golevelup.managedConnection.loses(undefined);
    const reason = new Error('closed');
    expect(connection.reasonOf(raw.asRaw, reason)).toBe(reason);
  });
});

describe('serverVersionOf', () => {
  const versionOf = (serverProperties: unknown) =>
    serverVersionOf({ connection: { serverProperties } } as unknown as RawConnection);

  it.each([
    ['3.10.8', [3, 10]],
    ['4.3.0-rc.1', [4, 3]],
    [undefined, [0, 0]],
    ['unknown', [0, 0]],
  ])('reads %s as %j', (version, expected) => {
    expect(versionOf({ version })).toEqual(expected);
  });

  it('is 0.0 without server properties', () => {
    expect(versionOf(undefined)).toEqual([0, 0]);
  });
});
