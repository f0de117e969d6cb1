import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type Deadline, Deadlines } from '../../../lib/pipeline/deadlines';
import { FakeClock } from '../../support/fake-clock';

const SPAN = 100;

describe('Deadlines', () => {
  it('share one timer, and have none once all are met', () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines(clock, SPAN);
    const set: Deadline[] = [];
    for (let number = 0; number < 5; number += 1) {
      set.push(deadlines.set(clock.monotonic(), () => {}));
      clock.advance(10);
    }
    expect(clock.pending).toHaveLength(1);
    for (const deadline of set) deadlines.met(deadline);
    expect(clock.pending).toEqual([]);
  });

  it('do not keep the process alive', () => {
    const clock = new FakeClock();
    new Deadlines(clock, SPAN).set(clock.monotonic(), () => {});
    expect(clock.keepingAlive).toBe(0);
  });

  it('include deadlines that are set while one expires', () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines(clock, SPAN);
    const second = vi.fn();
    deadlines.set(clock.monotonic(), () => {
      deadlines.set(clock.monotonic(), second);
    });
    clock.advance(SPAN + SPAN - 1);
    expect(second).not.toHaveBeenCalled();
    clock.advance(1);
    expect(second).toHaveBeenCalledOnce();
    expect(clock.pending).toEqual([]);
  });

  it('expire on time, once, unless they are met', () => {
    const step = fc.record({
      wait: fc.nat({ max: 60 }),
      kind: fc.constantFrom('set' as const, 'meet' as const),
      which: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const clock = new FakeClock();
        const deadlines = new Deadlines(clock, SPAN);
        const all: { since: number; metAt?: number; expiredAt: number[]; deadline: Deadline }[] =
          [];
        for (const { wait, kind: act, which } of steps) {
          clock.advance(wait);
          if (act === 'set') {
            const since = clock.monotonic();
            const expiredAt: number[] = [];
            const deadline = deadlines.set(since, () => expiredAt.push(clock.monotonic()));
            all.push({ since, expiredAt, deadline });
          } else if (all.length > 0) {
            const one = all[which % all.length];
            if (one === undefined) continue;
            deadlines.met(one.deadline);
            one.metAt ??= clock.monotonic();
          }
          const isWaiting = all.some(
            ({ metAt, expiredAt }) => metAt === undefined && expiredAt.length === 0,
          );
          expect(clock.pending.length).toBe(isWaiting ? 1 : 0);
        }
        clock.advance(2 * SPAN);
        for (const { since, metAt, expiredAt } of all) {
          const isMet = metAt !== undefined && metAt < since + SPAN;
          expect(expiredAt).toEqual(isMet ? [] : [since + SPAN]);
        }
        expect(clock.pending).toEqual([]);
      }),
    );
  });
});
