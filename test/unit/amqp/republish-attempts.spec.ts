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

describe('tryToSend', () => {
  it('is done with the first try that is confirmed', async () => {
    const { result, tries, clock } = setUp(async () => 'confirmed');
    expect(await result).toEqual({ result: 'confirmed', last: 'confirmed' });
    expect(tries).toHaveBeenCalledExactlyOnceWith(30_000, false);
    expect(clock.pending).toEqual([]);
  });

  it('tries five times, with pauses that grow, and says how the last one ended', async () => {
    const { result, times, tries, clock } = setUp(async () => 'returned');
    await clock.pass(60_000);
    expect(await result).toEqual({ result: 'failed', last: 'returned' });
    expect(times).toEqual([0, 100, 300, 700, 1_500]);
    expect(tries.mock.calls).toEqual([
      [30_000, false],
      [29_900, true],
      [29_700, true],
      [29_300, true],
      [28_500, true],
    ]);
  });

  it('goes on after a try that throws, and keeps what it threw', async () => {
    const error = new Error('nacked');
    const { result, clock } = setUp(() => Promise.reject(error));
    await clock.pass(60_000);
    expect(await result).toEqual({ result: 'failed', last: error });
    const thrown = setUp(() => {
      throw error;
    });
    await thrown.clock.pass(60_000);
    expect(await thrown.result).toEqual({ result: 'failed', last: error });
  });

  it('begins no try after its time', async () => {
    const { result, times, clock } = setUp(async () => 'returned', 500);
    await clock.pass(60_000);
    expect((await result).result).toBe('failed');
    expect(times).toEqual([0, 100, 300]);
  });

  it('does not try again what can not be encoded', async () => {
    const { result, tries } = setUp(async () => 'unencodable');
    expect(await result).toEqual({ result: 'unencodable', last: 'unencodable' });
    expect(tries).toHaveBeenCalledOnce();
  });

  it('stops at once where the original’s channel is gone', async () => {
    const { result, tries, lost, clock } = setUp(async () => 'returned');
    await clock.endTurn();
    lost.abort();
    expect(await result).toEqual({ result: 'lost', last: 'returned' });
    expect(tries).toHaveBeenCalledOnce();
    expect(clock.pending).toEqual([]);
  });

  it('sends nothing where it is gone from the start', async () => {
    const tries = vi.fn<Attempt>();
    const result = await tryToPublish(new FakeClock(), 30_000, AbortSignal.abort(), tries);
    expect(result.result).toBe('lost');
    expect(tries).not.toHaveBeenCalled();
  });

  it('believes a confirm that came with the loss: the copy is there', async () => {
    const lost = new AbortController();
    const result = await tryToPublish(new FakeClock(), 30_000, lost.signal, async () => {
      lost.abort();
      return 'confirmed';
    });
    expect(result.result).toBe('confirmed');
  });
});

describe('copyQueueOf', () => {
  const subscription = aSubscription({ queueType: 'quorum', deadLetter: 'billing.dead' });

  it('is the dead-letter queue, the queue itself, or the waiting queue of the delay’s grid', () => {
    expect(targetQueueOf(subscription, 'q', { to: 'deadLetter' })).toBe('billing.dead');
    expect(targetQueueOf(subscription, 'q', { to: 'retry', delayMs: 0 })).toBe('q');
    expect(targetQueueOf(subscription, 'q', { to: 'retry', delayMs: 1_000 })).toBe('q.waitq.1024');
  });
});
