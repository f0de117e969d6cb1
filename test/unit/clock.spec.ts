import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Clock, countdown, sleep, systemClock, within } from '../../lib/clock';
import { FakeClock } from '../support/fake-clock';

const DAY = 86_400_000;

/** Loads the clock again, on the current timers instead of Node's own. */
async function clockOnCurrentTimers(): Promise<Clock> {
  const { setTimeout, clearTimeout, setImmediate } = globalThis;
  vi.resetModules();
  vi.doMock('node:timers', () => ({ default: { setTimeout, clearTimeout, setImmediate } }));
  const { systemClock: clock } = await import('../../lib/clock');
  vi.doUnmock('node:timers');
  return clock;
}

describe('systemClock', () => {
  describe('on fake timers', () => {
    let clock: Clock;

    beforeEach(async () => {
      vi.useFakeTimers();
      clock = await clockOnCurrentTimers();
    });

    afterEach(() => {
      vi.useRealTimers();
    });

    it.each([
      ['0 ms', 0],
      ['a fraction', 0.4],
      ['1 s', 1_000],
      ['the longest delay of a Node timer', 2 ** 31 - 1],
      ['one ms more than a Node timer can hold', 2 ** 31],
      ['49 days, which Node would fire immediately', 49 * DAY],
    ])('calls once, never early, after %s', (_name, ms) => {
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

    it('treats a negative delay as 0', () => {
      const work = vi.fn();
      clock.after(-5_000, work);
      vi.advanceTimersByTime(1);
      expect(work).toHaveBeenCalledOnce();
    });

    it('cancels a call, also after its timer was re-armed', () => {
      const work = vi.fn();
      const timer = clock.after(49 * DAY, work);
      vi.advanceTimersByTime(40 * DAY);
      timer.cancel();
      expect(vi.getTimerCount()).toBe(0);
      vi.advanceTimersByTime(40 * DAY);
      expect(work).not.toHaveBeenCalled();
    });

    it('runs nextTurn after the microtasks of this turn', async () => {
      const order: string[] = [];
      clock.nextTurn(() => order.push('turn'));
      await Promise.resolve().then(() => order.push('microtask'));
      order.push('end');
      vi.runAllTimers();
      expect(order).toEqual(['microtask', 'end', 'turn']);
    });
  });

  it('keeps running when a test installs fake timers', async () => {
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

  it('keeps running when it is created on fake timers', async () => {
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

  it('keeps the process alive for a call, but not for a background call', () => {
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

  it('keeps a long background call in the background when it is re-armed', async () => {
    const setTimeout = vi.spyOn(globalThis, 'setTimeout');
    const unref = vi.fn();
    setTimeout.mockImplementation(((work: () => void) => {
      if (unref.mock.calls.length === 0) queueMicrotask(work);
      return { unref };
    }) as never);
    try {
      const clock = await clockOnCurrentTimers();
      clock.after(40 * DAY, () => {}, { background: true });
      await Promise.resolve();
      expect(unref).toHaveBeenCalledTimes(2);
    } finally {
      setTimeout.mockRestore();
    }
  });
});

describe('sleep', () => {
  it('resolves once the time has passed, not earlier', async () => {
    const clock = new FakeClock();
    const done = vi.fn();
    void sleep(clock, 1_000).then(done);
    await clock.pass(999);
    expect(done).not.toHaveBeenCalled();
    await clock.pass(1);
    expect(done).toHaveBeenCalledOnce();
  });

  it('resolves as soon as the signal aborts, without a timer left', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const paused = sleep(clock, 60_000, controller.signal);
    controller.abort();
    await paused;
    expect(clock.pending).toEqual([]);
  });

  it('resolves immediately if the signal has already aborted', async () => {
    const clock = new FakeClock();
    await sleep(clock, 60_000, AbortSignal.abort());
    expect(clock.pending).toEqual([]);
  });

  it('removes its listener from the signal', async () => {
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
  it('resolves with true and cancels its timer if the work ends in time', async () => {
    const clock = new FakeClock();
    expect(await within(clock, 1_000, Promise.resolve(false))).toBe(true);
    expect(clock.pending).toEqual([]);
  });

  it('does not reject if the work rejects', async () => {
    const clock = new FakeClock();
    expect(await within(clock, 1_000, Promise.reject(new Error('failed')))).toBe(true);
  });

  it('resolves with false after the limit, and ignores a later rejection', async () => {
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

  it('resolves with false when the signal aborts, without timer or listener left', async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const removed = vi.spyOn(controller.signal, 'removeEventListener');
    const ended = within(clock, 1_000, new Promise(() => {}), controller.signal);
    controller.abort();
    expect(await ended).toBe(false);
    expect(clock.pending).toEqual([]);
    expect(removed).toHaveBeenCalledOnce();
  });

  it('removes its listener from the signal after the work', async () => {
    const clock = new FakeClock();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, 'addEventListener');
    const removed = vi.spyOn(signal, 'removeEventListener');
    expect(await within(clock, 1_000, Promise.resolve(), signal)).toBe(true);
    expect(removed.mock.calls).toEqual(added.mock.calls.map(([type, work]) => [type, work]));
    expect(added).toHaveBeenCalledOnce();
  });

  it.each(['during the wait', 'before the wait'])(
    'handles a rejection after an abort (%s)',
    async (when) => {
      const clock = new FakeClock();
      const controller = new AbortController();
      const unhandled = vi.fn();
      process.once('unhandledRejection', unhandled);
      try {
        if (when === 'before the wait') controller.abort();
        let fail: (error: Error) => void = () => {};
        const work = new Promise((_resolve, reject) => {
          fail = reject;
        });
        const ended = within(clock, 1_000, work, controller.signal);
        controller.abort();
        expect(await ended).toBe(false);
        fail(new Error('after the abort'));
        await clock.endTurn();
        expect(unhandled).not.toHaveBeenCalled();
      } finally {
        process.off('unhandledRejection', unhandled);
      }
    },
  );
});

describe('countdown', () => {
  it('returns the remaining time, at least 0, whatever the wall clock says', () => {
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
