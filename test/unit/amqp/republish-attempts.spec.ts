import { describe, expect, it, vi } from 'vitest';
import { type Publish, targetQueueOf, tryToPublish } from '../../../lib/amqp/republish-attempts';
import type { Plan, TryResult } from '../../../lib/amqp/republish-judgement';
import { FakeClock } from '../../support/fake-clock';
import { aSubscription } from '../fixtures';

const FIRST: Plan = { form: 'whole', isAlone: false };
const RETURNED: TryResult = { status: 'returned', replyCode: 312, replyText: 'NO_ROUTE' };

function closedWith(code: number, isAlone: boolean): TryResult {
  const error = Object.assign(new Error(`closed: ${code}`), { code });
  return { status: 'closed', error, isAlone };
}

function setUp(publish: Publish, timeLimit = 30_000) {
  const clock = new FakeClock();
  const lost = new AbortController();
  const started = clock.monotonic();
  const times: number[] = [];
  const tries = vi.fn<Publish>((...args) => {
    times.push(clock.monotonic() - started);
    return publish(...args);
  });
  const result = tryToPublish(clock, timeLimit, lost.signal, tries, FIRST);
  return { clock, lost, times, tries, result };
}

/** Publishes with these results, one after the other. */
function inTurn(...results: TryResult[]): Publish {
  return async () => results.shift() ?? { status: 'confirmed' };
}

describe('tryToPublish', () => {
  it('stops after the first confirmed try', async () => {
    const { result, tries, clock } = setUp(async () => ({ status: 'confirmed' }));
    expect(await result).toEqual({ status: 'confirmed', plan: FIRST, refusal: undefined });
    expect(tries).toHaveBeenCalledExactlyOnceWith(FIRST, 30_000, false);
    expect(clock.pending).toEqual([]);
  });

  it('tries five times with growing pauses and reports the last result', async () => {
    const { result, times, tries, clock } = setUp(async () => RETURNED);
    await clock.pass(60_000);
    expect(await result).toMatchObject({
      status: 'failed',
      tries: 5,
      error: { scope: 'target', message: expect.stringContaining('312 (NO_ROUTE)') },
    });
    expect(times).toEqual([0, 100, 300, 700, 1_500]);
    expect(tries.mock.calls.map(([, limitMs, isRetry]) => [limitMs, isRetry])).toEqual([
      [30_000, false],
      [29_900, true],
      [29_700, true],
      [29_300, true],
      [28_500, true],
    ]);
  });

  it('tries again after an error, rejected or thrown, and reports it', async () => {
    const cause = new Error('no connection');
    const failed = {
      status: 'failed',
      tries: 5,
      error: { message: 'no connection', scope: 'broker', mayHaveArrived: false, cause },
    };
    const rejecting = setUp(() => Promise.reject(cause));
    await rejecting.clock.pass(60_000);
    expect(await rejecting.result).toMatchObject(failed);
    const throwing = setUp(() => {
      throw cause;
    });
    await throwing.clock.pass(60_000);
    expect(await throwing.result).toMatchObject(failed);
  });

  it('starts no try after the time limit', async () => {
    const { result, times, clock } = setUp(async () => RETURNED, 500);
    await clock.pass(60_000);
    expect(await result).toMatchObject({ status: 'failed', tries: 3 });
    expect(times).toEqual([0, 100, 300]);
  });

  it('publishes alone after a close that may be the fault of the message, at once', async () => {
    const { result, tries, clock } = setUp(inTurn(closedWith(406, false)));
    expect(await result).toMatchObject({ status: 'confirmed', plan: { ...FIRST, isAlone: true } });
    expect(tries).toHaveBeenCalledTimes(2);
    expect(clock.pending).toEqual([]);
  });

  it('publishes less and less of a message that is refused alone', async () => {
    const refused = closedWith(541, true);
    const { result, tries } = setUp(inTurn(closedWith(541, false), refused, refused));
    expect(await result).toMatchObject({
      status: 'confirmed',
      plan: { form: 'bare', isAlone: true },
      refusal: { replyCode: 541 },
    });
    expect(tries.mock.calls.map(([plan]) => plan)).toEqual([
      { form: 'whole', isAlone: false },
      { form: 'whole', isAlone: true },
      { form: 'plain', isAlone: true },
      { form: 'bare', isAlone: true },
    ]);
  });

  it('ends at once if nothing less can be published', async () => {
    const { result, tries } = setUp(inTurn(closedWith(403, false)));
    expect(await result).toMatchObject({ tries: 1, error: { replyCode: 403, scope: 'broker' } });
    expect(tries).toHaveBeenCalledOnce();
  });

  it('remembers that an earlier try may have arrived', async () => {
    const lost: TryResult = { status: 'closed', error: new Error('reset'), isAlone: false };
    const { result, clock } = setUp(inTurn(lost, RETURNED, RETURNED, RETURNED, RETURNED));
    await clock.pass(60_000);
    expect(await result).toMatchObject({ tries: 5, error: { mayHaveArrived: true } });
  });

  it('stops as soon as the channel of the delivery closes', async () => {
    const { result, tries, lost, clock } = setUp(async () => RETURNED);
    await clock.endTurn();
    lost.abort();
    expect(await result).toEqual({ status: 'lost' });
    expect(tries).toHaveBeenCalledOnce();
    expect(clock.pending).toEqual([]);
  });

  it('publishes nothing if the channel has already closed', async () => {
    const tries = vi.fn<Publish>();
    const closed = AbortSignal.abort();
    const result = await tryToPublish(new FakeClock(), 30_000, closed, tries, FIRST);
    expect(result).toEqual({ status: 'lost' });
    expect(tries).not.toHaveBeenCalled();
  });

  it('reports a confirm that arrives as the channel closes', async () => {
    const lost = new AbortController();
    const publish: Publish = async () => {
      lost.abort();
      return { status: 'confirmed' };
    };
    const result = await tryToPublish(new FakeClock(), 30_000, lost.signal, publish, FIRST);
    expect(result).toMatchObject({ status: 'confirmed' });
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
