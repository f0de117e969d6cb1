import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Clock, countdown, sleep, systemClock, within } from '../../lib/clock';
import { FakeClock } from '../support/fake-clock';

const DAY = 86_400_000;

/** Makes the clock once more, on the timers that are there now in the place of Node's own. */
async function clockOnPresentTimers(): Promise<Clock> {
  const { setTimeout, clearTimeout, setImmediate } = globalThis;
  vi.resetModules();
  vi.doMock('node:timers', () => ({ default: { setTimeout, clearTimeout, setImmediate } }));
  const { systemClock: clock } = await import('../../lib/clock');
  vi.doUnmock('node:timers');
  return clock;
}

describe('systemClock', () => {
  describe('on timers that Vitest holds', () => {
    let clock: Clock;

    beforeEach(async () => {
      vi.useFakeTimers();
      clock = await clockOnPresentTimers();
    });

    afterEach(() => {
      vi.useRealTimers();
    });

    it.each([
      ['0 ms', 0],
      ['a fraction', 0.4],
      ['1 s', 1_000],
      ['the longest delay of a Node timer', 2 ** 31 - 1],
      ['one ms more than a Node timer keeps', 2 ** 31],
      ['49 days, which Node itself would fire at once', 49 * DAY],
    ])('calls once, and no sooner than asked, for %s', (_name, ms) => {
      const work = vi.fn();
      const start = Date.now();
      clock.after(ms, () => work(Date.now() - start));
      vi.advanceTimersByTime(Math.max(0, Math.ceil(ms) - 1));
      expect(work.mock.calls.filter(([waited]) => waited < ms)).toEqual([]);
      vi.advanceTimersByTime(2);
      expect(work).toHaveBeenCalledOnce();
      vi.advanceTimersByTime(60 * DAY);
      expect(work).toHaveBeenCalledOnce();
    });

    it('takes a negative time as none', () => {
      const work = vi.fn();
      clock.after(-5_000, work);
      vi.advanceTimersByTime(1);
      expect(work).toHaveBeenCalledOnce();
    });

    it('forgets a cancelled call, also after the timer has been armed again', () => {
      const work = vi.fn();
      const timer = clock.after(49 * DAY, work);
      vi.advanceTimersByTime(40 * DAY);
      timer.cancel();
      expect(vi.getTimerCount()).toBe(0);
      vi.advanceTimersByTime(40 * DAY);
      expect(work).not.toHaveBeenCalled();
    });

    it('calls work of the next turn after the microtasks of this one', async () => {
      const order: string[] = [];
      clock.nextTurn(() => order.push('turn'));
      await Promise.resolve().then(() => order.push('microtask'));
      order.push('end');
      vi.runAllTimers();
      expect(order).toEqual(['microtask', 'end', 'turn']);
    });
  });

  it('goes on while a test holds the timers that it took before', async () => {
    vi.useFakeTimers({ now: 0 });
    try {
      const before = systemClock.monotonic();
      await new Promise<void>((resolve) => systemClock.after(2, resolve));
      await new Promise<void>((resolve) => systemClock.nextTurn(resolve));
      expect(systemClock.monotonic()).toBeGreaterThan(before);
      expect(systemClock.now()).toBeGreaterThan(Date.parse('2020-01-01'));
    } finally {
      vi.useRealTimers();
    }
  });

  it('goes on where a test holds the timers before it is made', async () => {
    vi.useFakeTimers();
    try {
      vi.resetModules();
      const { systemClock: clock } = await import('../../lib/clock');
      await new Promise<void>((resolve) => clock.after(2, resolve));
      await new Promise<void>((resolve) => clock.nextTurn(resolve));
    } finally {
      vi.useRealTimers();
    }
  });

  it('keeps the process alive for a call, and not for one in the background', () => {
    const active = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = active();
    const background = systemClock.after(DAY, () => {}, { background: true });
    expect(active()).toBe(before);
    const kept = systemClock.after(DAY, () => {});
    expect(active()).toBe(before + 1);
    kept.cancel();
    background.cancel();
    expect(active()).toBe(before);
  });

  it('keeps a long call of the background in the background when it is armed again', async () => {
    const setTimeout = vi.spyOn(globalThis, 'setTimeout');
    const unref = vi.fn();
    setTimeout.mockImplementation(((work: () => void) => {
      if (unref.mock.calls.length === 0) queueMicrotask(work);
      return { unref };
    }) as never);
    try {
      const clock = await clockOnPresentTimers();
      clock.after(40 * DAY, () => {}, { background: true });
      await Promise.resolve();
      expect(unref).toHaveBeenCalledTimes(2);
    } finally {
      setTimeout.mockRestore();
    }
  });
});

describe('pause', () => {
  it('resolves once the time has passed, and not before', async () => {
    const clock = new FakeClock();
    const done = vi.fn();
    void sleep(clock, 1_000).then(done);
    await clock.pass(999);
    expect(done).not.toHaveBeenCalled();
    await clock.pass(1);
    expect(done).toHaveBeenCalledOnce();
  });

  it('resolves as soon as the signal aborts, and leaves no timer behind', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const paused = sleep(clock, 60_000, controller.signal);
    controller.abort();
    await paused;
    expect(clock.pending).toEqual([]);
  });

  it('does not wait at all for a signal that has aborted', async () => {
    const clock = new FakeClock();
    await sleep(clock, 60_000, AbortSignal.abort());
    expect(clock.pending).toEqual([]);
  });

  it('leaves no listener on a signal that outlives it', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    const paused = sleep(clock, 10, signal);
    clock.advance(10);
    await paused;
    expect(removed.mock.calls).toEqual(added.mock.calls.map(([type, work]) => [type, work]));
    expect(added).toHaveBeenCalledOnce();
  });
});

describe('within', () => {
  it('says that work ended in time, and takes its timer back', async () => {
    const clock = new FakeClock();
    expect(await within(clock, 1_000, Promise.resolve(false))).toBe(true);
    expect(clock.pending).toEqual([]);
  });

  it('does not reject for work that rejects', async () => {
    const clock = new FakeClock();
    expect(await within(clock, 1_000, Promise.reject(new Error('failed')))).toBe(true);
  });

  it('gives up after the time, and the rejection that comes later is nobody’s', async () => {
    const clock = new FakeClock();
    let fail: (error: Error) => void = () => {};
    const work = new Promise((_resolve, reject) => {
      fail = reject;
    });
    const ended = within(clock, 1_000, work);
    clock.advance(1_000);
    expect(await ended).toBe(false);
    fail(new Error('too late'));
    await clock.endTurn();
  });

  it('waits no longer than until the signal aborts, and leaves neither timer nor listener', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const removed = vi.spyOn(controller.signal, 'removeEventListener');
    const ended = within(clock, 1_000, new Promise(() => {}), controller.signal);
    controller.abort();
    expect(await ended).toBe(false);
    expect(clock.pending).toEqual([]);
    expect(removed).toHaveBeenCalledOnce();
  });

  it('leaves no listener on a signal that outlives the work', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    expect(await within(clock, 1_000, Promise.resolve(), signal)).toBe(true);
    expect(removed.mock.calls).toEqual(added.mock.calls.map(([type, work]) => [type, work]));
    expect(added).toHaveBeenCalledOnce();
  });

  it.each(['while it waits', 'before'])('hears work that fails after an abort %s', async (when) => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const unhandled = vi.fn();
    process.once('unhandledRejection', unhandled);
    try {
      if (when === 'before') controller.abort();
      let fail: (error: Error) => void = () => {};
      const work = new Promise((_resolve, reject) => {
        fail = reject;
      });
      const ended = within(clock, 1_000, work, controller.signal);
      controller.abort();
      expect(await ended).toBe(false);
      fail(new Error('nobody waits for it any more'));
      await clock.endTurn();
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });
});

describe('countdown', () => {
  it('tells what is left, never less than nothing, whatever the wall clock says', () => {
    const clock = new FakeClock();
    const left = countdown(clock, 1_000);
    expect(left()).toBe(1_000);
    clock.advance(400);
    clock.setWall(0);
    expect(left()).toBe(600);
    clock.advance(5_000);
    expect(left()).toBe(0);
  });
});
