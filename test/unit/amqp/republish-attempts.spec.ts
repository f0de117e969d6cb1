import { describe, expect, it, vi } from 'vitest';
import { targetQueueOf, tryToPublish } from '../../../lib/amqp/republish-attempts';
import { FakeClock } from '../../support/fake-clock';
import { aSubscription } from '../fixtures';

type Attempt = Parameters<typeof tryToPublish>[3];

function setUp(attempt: Attempt, timeLimit = 30_000) {
  const clock = new FakeClock();
  const lost = new AbortController();
  const started = clock.monotonic();
  const times: number[] = [];
  const tries = vi.fn<Attempt>((...args) => {
    times.push(clock.monotonic() - started);
    return attempt(...args);
  });
  return { clock, lost, times, tries, result: tryToPublish(clock, timeLimit, lost.signal, tries) };
}

describe('tryToPublish', () => {
  it('stops after the first confirmed try', async () => {
    const { result, tries, clock } = setUp(async () => 'confirmed');
    expect(await result).toEqual({ status: 'confirmed' });
    expect(tries).toHaveBeenCalledExactlyOnceWith(30_000, false);
    expect(clock.pending).toEqual([]);
  });

  it('tries five times with growing pauses and reports the last result', async () => {
    const { result, times, tries, clock } = setUp(async () => 'returned');
    await clock.pass(60_000);
    expect(await result).toEqual({ status: 'failed', tries: 5, error: 'returned' });
    expect(times).toEqual([0, 100, 300, 700, 1_500]);
    expect(tries.mock.calls).toEqual([
      [30_000, false],
      [29_900, true],
      [29_700, true],
      [29_300, true],
      [28_500, true],
    ]);
  });

  it('tries again after an error and reports it', async () => {
    const error = new Error('nacked');
    const { result, clock } = setUp(() => Promise.reject(error));
    await clock.pass(60_000);
    expect(await result).toEqual({ status: 'failed', tries: 5, error });
    const thrown = setUp(() => {
      throw error;
    });
    await thrown.clock.pass(60_000);
    expect(await thrown.result).toEqual({ status: 'failed', tries: 5, error });
  });

  it('starts no try after the time limit', async () => {
    const { result, times, clock } = setUp(async () => 'returned', 500);
    await clock.pass(60_000);
    expect(await result).toEqual({ status: 'failed', tries: 3, error: 'returned' });
    expect(times).toEqual([0, 100, 300]);
  });

  it('does not retry a message that cannot be encoded', async () => {
    const { result, tries } = setUp(async () => 'unencodable');
    expect(await result).toEqual({ status: 'unencodable' });
    expect(tries).toHaveBeenCalledOnce();
  });

  it('stops as soon as the channel of the delivery closes', async () => {
    const { result, tries, lost, clock } = setUp(async () => 'returned');
    await clock.endTurn();
    lost.abort();
    expect(await result).toEqual({ status: 'lost' });
    expect(tries).toHaveBeenCalledOnce();
    expect(clock.pending).toEqual([]);
  });

  it('publishes nothing if the channel has already closed', async () => {
    const tries = vi.fn<Attempt>();
    const result = await tryToPublish(new FakeClock(), 30_000, AbortSignal.abort(), tries);
    expect(result).toEqual({ status: 'lost' });
    expect(tries).not.toHaveBeenCalled();
  });

  it('reports a confirm that arrives as the channel closes', async () => {
    const lost = new AbortController();
    const result = await tryToPublish(new FakeClock(), 30_000, lost.signal, async () => {
      lost.abort();
      return 'confirmed';
    });
    expect(result).toEqual({ status: 'confirmed' });
  });
});

describe('targetQueueOf', () => {
  const subscription = aSubscription({ queueType: 'quorum', deadLetter: 'billing.dead' });

  it('is the dead-letter queue, the queue itself, or the waiting queue of the delay', () => {
    expect(targetQueueOf(subscription, 'q', { to: 'deadLetter' })).toBe('billing.dead');
    expect(targetQueueOf(subscription, 'q', { to: 'retry', delayMs: 0 })).toBe('q');
    expect(targetQueueOf(subscription, 'q', { to: 'retry', delayMs: 1_000 })).toBe('q.waitq.1000');
  });
});
