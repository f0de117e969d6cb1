import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConsumerListener } from '../../../lib/amqp/port';
import type { Republisher } from '../../../lib/amqp/republisher';
import { ChannelLoop } from '../../../lib/rabbitmq/channel-loop';
import { ManagedConnection } from '../../../lib/rabbitmq/managed-connection';
import { Gate } from '../../support/eventually';
import { FakeClock } from '../../support/fake-clock';
import { aLog, aMessage, aSubscription, QUEUE } from '../fixtures';
import { FakeAmqpConnection, FakeConnection } from './fakes';

let clock: FakeClock;
let golevelup: FakeAmqpConnection;
let connection: FakeConnection;
let listener: { [Name in keyof ConsumerListener]: ReturnType<typeof vi.fn> };
let loop: ChannelLoop;

beforeEach(() => {
  clock = new FakeClock();
  golevelup = new FakeAmqpConnection();
  connection = new FakeConnection();
  listener = {
    delivered: vi.fn(),
    ageOf: vi.fn(() => 0),
    finished: vi.fn(() => Promise.resolve()),
    channelLost: vi.fn(),
    consuming: vi.fn(),
    reconnecting: vi.fn(),
    refused: vi.fn(),
  };
  loop = new ChannelLoop({
    subscription: aSubscription({ queue: QUEUE }),
    consumeOptions: { noAck: false },
    prefetch: 7,
    listener: listener as ConsumerListener,
    connection: new ManagedConnection(golevelup.asAmqp, clock),
    republisher: {} as Republisher,
    log: aLog(undefined, clock),
    clock,
    probeDeclaration: async () => undefined,
    checkRights: () => {},
  });
});

async function start(): Promise<void> {
  golevelup.managedConnection.connects(connection);
  await loop.start();
}

/** The methods sent on the newest consuming channel. */
function consumed(): unknown[] {
  return [...(connection.consuming.at(-1)?.sent ?? [])];
}

it('declares, sets the prefetch and consumes on each new channel', async () => {
  await start();
  const first = consumed();
  expect(first).toEqual([
    ['prefetch', 7],
    ['consume', QUEUE, { noAck: false }],
  ]);
  connection.consuming[0]?.ends(new Error('406'));
  await clock.pass(200);
  expect(connection.consuming).toHaveLength(2);
  expect(consumed()).toEqual(first);
  const declared = connection.channels.filter(({ sent }) => sent[0]?.[0] === 'assertQueue');
  expect(declared).toHaveLength(2);
  expect(listener.consuming).toHaveBeenCalledTimes(2);
});

it('waits longer after each failed attempt, up to 30 s', async () => {
  connection.prepare = (channel) => {
    channel.answers.set('assertQueue', () => Promise.reject(new Error('down')));
  };
  await start();
  const pauses: number[] = [];
  for (let attempt = 1; attempt <= 12; attempt += 1) {
    await clock.endTurn();
    const [pause] = clock.pending;
    pauses.push(pause ?? 0);
    await clock.pass(pause ?? 0);
  }
  const longest = [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 30_000];
  longest.forEach((most, index) => {
    expect(pauses[index]).toBeGreaterThanOrEqual(most / 2);
    expect(pauses[index]).toBeLessThanOrEqual(most);
  });
});

it('reports a channel that closes as soon as it consumes', async () => {
  const reason = new Error('406');
  connection.prepare = (channel) => {
    channel.answers.set('consume', async () => {
      channel.consumer(aMessage());
      queueMicrotask(() => channel.ends(reason));
    });
  };
  await start();
  await clock.endTurn();
  expect(listener.delivered).toHaveBeenCalledTimes(1);
  expect(listener.channelLost).toHaveBeenCalledWith(reason);
});

describe('a channel loop that is closed during setup', () => {
  it("leaves no channel open and ends with the broker's reply", async () => {
    const answered = new Gate();
    connection.prepare = (channel) => channel.answers.set('assertQueue', () => answered.promise);
    golevelup.managedConnection.connects(connection);
    const starting = loop.start();
    await clock.endTurn();
    const closing = loop.close(25_000);
    await clock.endTurn();
    answered.open();
    await closing;
    await starting;
    expect(connection.channels.filter(({ isOpen }) => isOpen)).toEqual([]);
    expect(connection.consuming).toEqual([]);
    expect(clock.pending).toEqual([]);
    expect(listener.reconnecting).not.toHaveBeenCalled();
  });

  it('waits no longer than its limit', async () => {
    connection.prepare = (channel) => {
      channel.answers.set('assertQueue', () => new Promise(() => undefined));
    };
    golevelup.managedConnection.connects(connection);
    void loop.start();
    await clock.endTurn();
    let closed = false;
    void loop.close(1_000).then(() => {
      closed = true;
    });
    await clock.pass(1_000);
    expect(closed).toBe(true);
  });
});

describe('a paused channel loop', () => {
  it('does not consume on a new channel until it is resumed', async () => {
    await start();
    await loop.take('none');
    connection.consuming[0]?.ends();
    await clock.pass(200);
    expect(connection.consuming).toHaveLength(1);
    void loop.take('all');
    await clock.endTurn();
    expect(connection.consuming).toHaveLength(2);
  });

  it('consumes once, even if it is resumed twice', async () => {
    await start();
    await loop.take('none');
    void loop.take('all');
    void loop.take('all');
    await clock.endTurn();
    const methods = connection.consuming[0]?.sent.map(([method]) => method);
    expect(methods).toEqual(['prefetch', 'consume', 'cancel', 'prefetch', 'consume']);
  });
});
