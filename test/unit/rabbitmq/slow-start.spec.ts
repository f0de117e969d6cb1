import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { BrokerDelivery, ConsumerListener, SettleAction } from '../../../lib/amqp/port';
import type { Republisher } from '../../../lib/amqp/republisher';
import type { SubscribeOptions } from '../../../lib/model/options';
import { ChannelLoop } from '../../../lib/rabbitmq/channel-loop';
import { ManagedConnection } from '../../../lib/rabbitmq/managed-connection';
import { FakeClock } from '../../support/fake-clock';
import { aLog, aMessage, aSubscription, QUEUE, RecordingLogger } from '../fixtures';
import { FakeAmqpConnection, type FakeChannel, FakeConnection } from './fakes';

const PREFETCH = 8;

let clock: FakeClock;
let connection: FakeConnection;
let logger: RecordingLogger;
let publish: ReturnType<typeof vi.fn>;
let loop: ChannelLoop;
/** What is handled, and not settled yet, by delivery tag. */
let handled: Map<number, BrokerDelivery>;

beforeEach(() => {
  clock = new FakeClock();
  connection = new FakeConnection();
  connection.connection.serverProperties.version = '4.3.6';
  logger = new RecordingLogger();
  publish = vi.fn(async () => ({ status: 'confirmed' }));
  handled = new Map();
});

async function start(options: SubscribeOptions = {}, prefetch = PREFETCH): Promise<void> {
  const golevelup = new FakeAmqpConnection();
  const listener: Partial<ConsumerListener> = {
    delivered: (delivery) => handled.set(delivery.message.fields.deliveryTag, delivery),
    ageOf: () => 0,
    channelLost: () => handled.clear(),
    consuming: () => undefined,
    reconnecting: () => undefined,
  };
  loop = new ChannelLoop({
    subscription: aSubscription({ queueType: 'quorum', ...options } as SubscribeOptions),
    consumeOptions: {},
    prefetch,
    listener: listener as ConsumerListener,
    connection: new ManagedConnection(golevelup.asAmqp, clock),
    republisher: { publish } as unknown as Republisher,
    log: aLog(logger, clock),
    clock,
    probeDeclaration: async () => undefined,
    checkRights: () => undefined,
  });
  golevelup.managedConnection.connects(connection);
  await loop.start();
}

function channel(): FakeChannel {
  return connection.consuming.at(-1)!;
}

/** Delivers first deliveries. */
function deliver(...tags: number[]): void {
  for (const deliveryTag of tags) channel().consumer(aMessage({ deliveryTag }));
}

/** Delivers messages that the broker counts as redelivered once. */
function redeliver(...tags: number[]): void {
  for (const deliveryTag of tags) {
    const headers = { 'x-delivery-count': 1, 'x-acquired-count': 1 };
    channel().consumer(aMessage({ deliveryTag, redelivered: true, headers }));
  }
}

async function settle(tag: number, action: SettleAction = 'ack'): Promise<void> {
  handled.get(tag)?.settle(action, () => undefined);
  handled.delete(tag);
  await turns();
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await clock.endTurn();
}

/** What was sent after the first consume. */
function sent(): unknown[] {
  const all = channel().sent;
  return all.slice(all.findIndex(([method]) => method === 'consume') + 1);
}

/** The prefetches with which the channel has consumed. */
function prefetches(): unknown[] {
  return channel().sent.flatMap(([method, count]) => (method === 'prefetch' ? [count] : []));
}

function handledTags(): number[] {
  return [...handled.keys()];
}

const lines = (): string[] => logger.texts().map((text) => /\[(.*?)\]/.exec(text)?.[1] ?? '');

describe('messages of a lost consumer', () => {
  it('does nothing about one alone but asks the queue for others before it is handled', async () => {
    await start();
    redeliver(1);
    expect(handledTags()).toEqual([]);
    deliver(2);
    await turns();
    expect(handledTags()).toEqual([2, 1]);
    expect(sent()).toEqual([['checkQueue', QUEUE]]);
    expect(lines()).toEqual([]);
  });

  it('handles the first of several alone, and requeues the others once the consumer is cancelled', async () => {
    await start();
    deliver(1);
    redeliver(2, 3, 4);
    await turns();
    expect(handledTags()).toEqual([1, 2]);
    expect(sent()).toEqual([
      ['checkQueue', QUEUE],
      ['cancel', 'tag'],
      ['nack', 3, false, true],
      ['nack', 4, false, true],
      ['checkQueue', QUEUE],
    ]);
    await settle(1);
    expect(prefetches()).toEqual([PREFETCH]);
    await settle(2);
    expect(prefetches()).toEqual([PREFETCH, 1]);
    expect(lines()).toEqual(['slow-start']);
  });

  it('requeues one that arrives while another is handled', async () => {
    await start();
    redeliver(1);
    await turns();
    redeliver(2);
    await turns();
    expect(handledTags()).toEqual([1]);
    expect(sent()).toContainEqual(['nack', 2, false, true]);
    await settle(1);
    expect(prefetches()).toEqual([PREFETCH, 1]);
  });

  it('republishes them with their attempt and a mark before 4.3, which counts each requeue', async () => {
    connection.connection.serverProperties.version = '4.0.5';
    await start();
    redeliver(1, 2);
    await turns();
    expect(publish).toHaveBeenCalledTimes(1);
    const [message, target] = publish.mock.calls[0]!;
    expect(target).toEqual({ to: 'retry', delayMs: 0 });
    expect(message.headers).toMatchObject({
      'x-settle-attempt': 2,
      'x-settle-lost-consumer': true,
    });
    expect(sent()).toContainEqual(['ack', 2, false]);
  });

  it('requeues one that can not be republished', async () => {
    connection.connection.serverProperties.version = '4.0.5';
    publish.mockResolvedValue({ status: 'failed', tries: 1, error: new Error('down') });
    await start();
    redeliver(1, 2);
    await turns();
    expect(sent()).toContainEqual(['nack', 2, false, true]);
  });
});

describe('the prefetch after a lost consumer', () => {
  /** Starts slowly, until a consumer with a prefetch of 1 waits for deliveries. */
  async function startSlowly(): Promise<void> {
    await start();
    redeliver(1, 2);
    await turns();
    await settle(1);
    expect(prefetches()).toEqual([PREFETCH, 1]);
  }

  it('doubles with each success up to the configured one', async () => {
    await startSlowly();
    deliver(3);
    await settle(3);
    deliver(4);
    await settle(4);
    deliver(5);
    await settle(5, 'requeueFailed');
    expect(prefetches()).toEqual([PREFETCH, 1, 2, 4, 8]);
    expect(lines()).toEqual(['slow-start', 'slow-start-ended']);
    deliver(6);
    await settle(6);
    expect(prefetches()).toHaveLength(5);
  });

  it('stays 1 while messages of the lost consumer arrive', async () => {
    await startSlowly();
    for (const tag of [3, 4, 5]) {
      redeliver(tag);
      expect(handledTags()).toEqual([tag]);
      await settle(tag);
    }
    expect(prefetches()).toEqual([PREFETCH, 1]);
  });

  it('starts again at 1 when such a message arrives with others', async () => {
    await startSlowly();
    deliver(3);
    await settle(3);
    deliver(4);
    redeliver(5);
    expect(handledTags()).toEqual([4]);
    await turns();
    expect(handledTags()).toEqual([4, 5]);
    await settle(5);
    await settle(4);
    expect(prefetches()).toEqual([PREFETCH, 1, 2, 1]);
  });

  it('does not rise by messages that arrived before', async () => {
    await start();
    deliver(1, 2, 3);
    redeliver(4, 5);
    await turns();
    await settle(4);
    for (const tag of [1, 2, 3]) await settle(tag);
    expect(prefetches()).toEqual([PREFETCH, 1]);
  });

  it('is not exceeded together with what is unsettled', async () => {
    await startSlowly();
    deliver(3);
    await settle(3);
    deliver(4, 5);
    await settle(4);
    deliver(6, 7, 8);
    await settle(6); // A prefetch of 8 has to wait for 5, 7 and 8.
    expect(prefetches()).toEqual([PREFETCH, 1, 2, 4]);
    await settle(5);
    await settle(7);
    expect(prefetches()).toHaveLength(4);
    await settle(8);
    expect(prefetches()).toEqual([PREFETCH, 1, 2, 4, 8]);
  });

  it('starts at 1 on the next channel', async () => {
    await startSlowly();
    channel().ends(new Error('closed'));
    await clock.pass(200);
    expect(connection.consuming).toHaveLength(2);
    expect(prefetches()).toEqual([1]);
  });

  it('follows a pause', async () => {
    await startSlowly();
    await loop.take('none');
    await loop.take('all');
    expect(prefetches()).toEqual([PREFETCH, 1, 1]);
  });
});

it('leaves messages alone that have no attempt left, since they are not handled', async () => {
  await start({ retry: { attempts: 1 } });
  redeliver(1, 2);
  expect(handledTags()).toEqual([1, 2]);
  expect(sent()).toEqual([]);
});

describe('counts that are explained', () => {
  it('are those while this process retries', async () => {
    await start();
    deliver(1);
    await settle(1, 'requeueFailed');
    redeliver(2, 3);
    expect(handledTags()).toEqual([2, 3]);
    await settle(2);
    await settle(3);
    clock.advance(60_000);
    redeliver(4, 5);
    await turns();
    expect(handledTags()).toEqual([4]);
  });

  it('are those after this process has lost its own channel', async () => {
    await start();
    channel().ends(new Error('closed'));
    await clock.pass(200);
    redeliver(1, 2);
    expect(handledTags()).toEqual([1, 2]);
  });
});

describe('subscriptions without a slow start', () => {
  it.each<[string, SubscribeOptions, number?]>([
    ['a prefetch of 1', {}, 1],
    ['a classic queue', { queueType: 'classic' }],
    ['noAck', { noAck: true }],
    ['an ordered subscription', { order: { by: () => 'key' }, singleActiveConsumer: true }],
    ['a single active consumer', { singleActiveConsumer: true }],
    ['a queue that goes without its consumer', { queueOptions: { expires: 60_000 } }],
  ])('%s', async (_what, options, prefetch = PREFETCH) => {
    await start(options, prefetch);
    redeliver(1, 2);
    expect(handledTags()).toEqual([1, 2]);
    expect(sent()).toEqual([]);
  });
});

it('requeues what it holds when it closes', async () => {
  await start();
  channel().answers.set('checkQueue', () => new Promise(() => undefined));
  redeliver(1);
  const closed = loop.close(1_000);
  await turns();
  await clock.pass(1_000);
  await clock.pass(1_000);
  await closed;
  expect(handledTags()).toEqual([]);
  expect(sent()).toContainEqual(['nack', 1, false, true]);
});
