import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../lib/clock';
import { VirtualClock } from '../../../lib/memory/virtual-clock';

const DAY = 86_400_000;
const turn = (): Promise<void> => new Promise((resolve) => systemClock.nextTurn(resolve));

describe('VirtualClock', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('stands still until it is moved', async () => {
    const clock = new VirtualClock();
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    await new Promise<void>((resolve) => systemClock.after(5, resolve));
    expect([clock.now(), clock.monotonic()]).toEqual([now, monotonic]);
    clock.moveTo(1_000);
    expect([clock.now(), clock.monotonic()]).toEqual([now + 1_000, monotonic + 1_000]);
  });

  it('runs calls in order, each at its own time, also those that a call adds', () => {
    const clock = new VirtualClock();
    const calls: [string, number][] = [];
    const record = (name: string) => () => void calls.push([name, clock.monotonic()]);
    clock.after(300, record('late'));
    clock.after(100, () => {
      record('early')();
      clock.after(100, record('added'));
      clock.after(1_000, record('after the move'));
    });
    clock.after(100, record('as early'));
    clock.moveTo(500);
    expect(calls).toEqual([
      ['early', 100],
      ['as early', 100],
      ['added', 200],
      ['late', 300],
    ]);
    expect(clock.nextAt).toBe(1_100);
  });

  it("supports delays beyond the limit of Node's timers", () => {
    const clock = new VirtualClock();
    const work = vi.fn();
    clock.after(49 * DAY, work);
    clock.moveTo(49 * DAY - 1);
    expect(work).not.toHaveBeenCalled();
    clock.moveTo(49 * DAY);
    expect(work).toHaveBeenCalledOnce();
  });

  it('skips cancelled calls, also if they are cancelled while it moves', () => {
    const clock = new VirtualClock();
    const work = vi.fn();
    const timer = clock.after(200, work);
    clock.after(100, () => timer.cancel());
    clock.moveTo(1_000);
    expect(work).not.toHaveBeenCalled();
    expect(clock.nextAt).toBeUndefined();
  });

  it('reports when the next call is due, and whether it is in the background', () => {
    const clock = new VirtualClock();
    expect([clock.nextAt, clock.nextIsBackground]).toEqual([undefined, false]);
    clock.after(200, () => {});
    clock.after(100, () => {}, { background: true });
    expect([clock.nextAt, clock.nextIsBackground]).toEqual([100, true]);
    clock.moveTo(100);
    expect([clock.nextAt, clock.nextIsBackground]).toEqual([200, false]);
  });

  it('never moves backwards', () => {
    const clock = new VirtualClock();
    clock.moveTo(1_000);
    clock.moveTo(10);
    expect(clock.monotonic()).toBe(1_000);
  });

  it('runs calls without a delay in the next turn, without being moved', async () => {
    const clock = new VirtualClock();
    const work = vi.fn();
    clock.after(0, work);
    clock.after(-5, work);
    expect(work).not.toHaveBeenCalled();
    await turn();
    expect(work).toHaveBeenCalledTimes(2);
    expect(clock.monotonic()).toBe(0);
  });

  it('is independent of fake timers', async () => {
    const clock = new VirtualClock();
    vi.useFakeTimers();
    const [work, later] = [vi.fn(), vi.fn()];
    clock.nextTurn(work);
    clock.after(1_000, later);
    vi.advanceTimersByTime(60_000);
    await turn();
    expect(work).toHaveBeenCalledOnce();
    expect(later).not.toHaveBeenCalled();
    expect(clock.monotonic()).toBe(0);
  });
});
