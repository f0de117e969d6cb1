import { describe, expect, it } from 'vitest';
import { ConsumerGate } from '../../../lib/amqp/consumer-gate';
import { needsConsumer } from '../../../lib/amqp/held-deliveries';
import type { BrokerDelivery, SettleAction } from '../../../lib/amqp/port';
import type { SubscribeOptions } from '../../../lib/model/options';
import { FakeClock } from '../../support/fake-clock';
import { aSubscription } from '../fixtures';

const PREFETCH = 3;

function setUp(options: SubscribeOptions = {}) {
  const clock = new FakeClock();
  const closing = new AbortController();
  const prefetches: number[] = [];
  const handled: number[] = [];
  const settled: [number, SettleAction][] = [];
  const gate: ConsumerGate = new ConsumerGate({
    subscription: aSubscription(options),
    prefetch: PREFETCH,
    clock,
    closing: closing.signal,
    apply: async () => prefetches.push(gate.prefetch),
    delivered: ({ acquired }) => handled.push(acquired),
  });
  const deliver = (id: number): void =>
    gate.delivered({
      acquired: id,
      settle: (action: SettleAction) => settled.push([id, action]),
    } as Partial<BrokerDelivery> as BrokerDelivery);
  return { gate, clock, closing, prefetches, handled, settled, deliver };
}

describe('the gate of a consumer', () => {
  it('cancels the consumer, consumes with a prefetch of one, and with the whole prefetch', async () => {
    const { gate, prefetches } = setUp();
    expect(gate.prefetch).toBe(PREFETCH);
    await gate.take('none');
    await gate.take('one');
    await gate.take('all');
    await gate.stop();
    await gate.take('all');
    expect(prefetches).toEqual([0, 1, PREFETCH, 0]);
  });

  it('passes on what arrives before the consumer is cancelled', async () => {
    const { gate, handled, deliver } = setUp();
    const cancelled = gate.take('none');
    deliver(1);
    await cancelled;
    expect(handled).toEqual([1]);
  });

  it('stays closed once the consumer closes', async () => {
    const { gate, closing } = setUp();
    closing.abort();
    await gate.take('all');
    expect(gate.prefetch).toBe(0);
  });
});

describe('the gate of a consumer whose queue would be deleted without it', () => {
  const options = { queueOptions: { autoDelete: true } };

  it('keeps the consumer and holds the deliveries until all are taken', async () => {
    const { gate, handled, deliver, prefetches } = setUp(options);
    await gate.take('none');
    deliver(1);
    deliver(2);
    expect(handled).toEqual([]);
    await gate.take('all');
    deliver(3);
    expect(handled).toEqual([1, 2, 3]);
    expect(prefetches).toEqual([PREFETCH, PREFETCH]);
  });

  it('passes on one delivery each time that one is taken', async () => {
    const { gate, handled, deliver } = setUp(options);
    await gate.take('none');
    deliver(1);
    await gate.take('one');
    deliver(2);
    expect(handled).toEqual([1]);
    await gate.take('one');
    expect(handled).toEqual([1, 2]);
  });

  it('takes another one when the channel of the first closes', async () => {
    const { gate, handled, deliver, settled } = setUp(options);
    await gate.take('one');
    deliver(1);
    deliver(2);
    gate.channelClosed();
    deliver(3);
    deliver(4);
    expect(handled).toEqual([1, 3]);
    expect(settled).toEqual([]);
  });

  it('requeues what it holds every 30 seconds', async () => {
    const { gate, clock, deliver, settled, handled } = setUp(options);
    await gate.take('none');
    deliver(1);
    await clock.pass(29_999);
    expect(settled).toEqual([]);
    await clock.pass(1);
    expect(settled).toEqual([[1, 'requeueUnprocessed']]);
    await gate.take('all');
    expect(handled).toEqual([]);
    expect(clock.pending).toEqual([]);
  });

  it('holds what arrives after it has stopped, and requeues it when it closes', async () => {
    const { gate, clock, closing, deliver, settled, prefetches } = setUp(options);
    await gate.stop();
    deliver(1);
    expect(prefetches).toEqual([PREFETCH]);
    closing.abort();
    await gate.close();
    expect(prefetches).toEqual([PREFETCH, 0]);
    expect(settled).toEqual([[1, 'requeueUnprocessed']]);
    expect(clock.pending).toEqual([]);
  });

  it('passes on what it holds of a noAck consumer when it stops', async () => {
    const { gate, deliver, handled, prefetches, settled } = setUp({ ...options, noAck: true });
    await gate.take('none');
    deliver(1);
    await gate.stop();
    expect(handled).toEqual([1]);
    expect(prefetches).toEqual([PREFETCH, 0]);
    expect(settled).toEqual([]);
  });

  it.each<[string, SubscribeOptions]>([
    ['an auto-delete queue', { queueOptions: { autoDelete: true } }],
    ['a queue with x-expires', { queueOptions: { expires: 60_000 } }],
    ['a queue with x-expires', { queueOptions: { arguments: { 'x-expires': 60_000 } } }],
  ])('is that of %s', async (_what, given) => {
    const { gate } = setUp(given);
    await gate.take('none');
    expect(gate.prefetch).toBe(PREFETCH);
  });

  it('is that of a server-named queue', () => {
    expect(needsConsumer({ ...aSubscription(), queue: undefined })).toBe(true);
    expect(needsConsumer(aSubscription())).toBe(false);
  });
});

describe('the gate of an ordered consumer', () => {
  const options = { order: { by: () => 'key', instances: 1 as const } };

  it('takes one message at a time out of the whole prefetch, and holds the rest', async () => {
    const { gate, handled, deliver, prefetches, clock, settled } = setUp(options);
    await gate.take('one');
    deliver(1);
    deliver(2);
    deliver(3);
    expect(handled).toEqual([1]);
    await gate.take('one');
    expect(handled).toEqual([1, 2]);
    await clock.pass(30_000);
    await gate.take('all');
    expect(handled).toEqual([1, 2, 3]);
    expect(prefetches).toEqual([PREFETCH, PREFETCH, PREFETCH]);
    expect(settled).toEqual([]);
  });

  it('cancels the consumer as any other when none is taken', async () => {
    const { gate, prefetches } = setUp(options);
    await gate.take('none');
    await gate.stop();
    expect(prefetches).toEqual([0, 0]);
  });
});
