import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LineLimits, WaitingLine } from '../../../lib/settlement/waiting-line';
import { FakeClock } from '../../support/fake-clock';

function aLine(limits: LineLimits) {
  const clock = new FakeClock();
  const begun: number[] = [];
  const line = new WaitingLine<number>(limits, clock, (work) => begun.push(work));
  return { clock, begun, line };
}

describe('a waiting line', () => {
  it('begins in order, as much at once as the concurrency', () => {
    const { begun, line } = aLine({ concurrency: 2 });
    for (const work of [1, 2, 3, 4]) line.add(work);
    expect(begun).toEqual([1, 2]);
    expect(line.size).toBe(2);
    line.ended();
    expect(begun).toEqual([1, 2, 3]);
    line.ended();
    line.ended();
    expect(begun).toEqual([1, 2, 3, 4]);
    expect(line.size).toBe(0);
  });

  it('begins work that ends at once one after the other, however much there is', () => {
    const begun: number[] = [];
    const clock = new FakeClock();
    const line: WaitingLine<number> = new WaitingLine({ concurrency: 1 }, clock, (work) => {
      begun.push(work);
      if (work === 0) for (let next = 1; next <= 50_000; next += 1) line.add(next);
      line.ended();
    });
    line.add(0);
    expect(begun).toHaveLength(50_001);
  });

  it('waits for the rate with one timer, which goes with what waits', () => {
    const { begun, line, clock } = aLine({ rate: { limit: 2, per: 100 } });
    for (const work of [1, 2, 3, 4, 5]) line.add(work);
    expect(begun).toEqual([1, 2]);
    expect(clock.pending).toEqual([100]);
    clock.advance(100);
    expect(begun).toEqual([1, 2, 3, 4]);
    expect(line.clear()).toEqual([5]);
    expect(clock.pending).toEqual([]);
    clock.advance(1_000);
    expect(begun).toEqual([1, 2, 3, 4]);
  });

  it('keeps order, concurrency and rate, whatever arrives, ends and is cleared when', () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ do: fc.constantFrom('add', 'end') }),
        fc.record({ do: fc.constant('pass'), ms: fc.integer({ min: 1, max: 60 }) }),
      ),
      { maxLength: 300 },
    );
    const limits = fc.record({
      concurrency: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      rate: fc.option(
        fc.record({ limit: fc.integer({ min: 1, max: 4 }), per: fc.integer({ min: 1, max: 50 }) }),
        { nil: undefined },
      ),
    });
    fc.assert(
      fc.property(limits, steps, ({ concurrency, rate }, all) => {
        const clock = new FakeClock();
        const begun: { work: number; at: number }[] = [];
        let [added, running] = [0, 0];
        const line = new WaitingLine<number>({ concurrency, rate }, clock, (work) => {
          begun.push({ work, at: clock.monotonic() });
          running += 1;
          expect(running).toBeLessThanOrEqual(concurrency ?? Number.POSITIVE_INFINITY);
        });
        for (const step of all) {
          if (step.do === 'add') line.add(added++);
          if (step.do === 'end' && running > 0) {
            running -= 1;
            line.ended();
          }
          if ('ms' in step) clock.advance(step.ms);
          expect(begun.length + line.size).toBe(added);
          const isFull = running >= (concurrency ?? Number.POSITIVE_INFINITY);
          if (line.size > 0) expect(isFull || clock.pending.length === 1).toBe(true);
        }
        expect(begun.map(({ work }) => work)).toEqual(begun.map((_, index) => index));
        begun.forEach(({ at }, index) => {
          const before = rate && begun[index - rate.limit];
          if (before && rate) expect(at - before.at).toBeGreaterThanOrEqual(rate.per);
        });
      }),
    );
  });
});
