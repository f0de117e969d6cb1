import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatchCollector } from '../../../lib/settlement/batch-collector';
import { FakeClock } from '../../support/fake-clock';

describe('a batch collector', () => {
  it('completes batches in order, no larger than the size, no later than the first may wait', () => {
    const limits = fc.record({
      size: fc.integer({ min: 1, max: 6 }),
      wait: fc.integer({ min: 1, max: 40 }),
    });
    const gaps = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 100 });
    fc.assert(
      fc.property(limits, gaps, ({ size, wait }, all) => {
        const clock = new FakeClock();
        const arrivals: number[] = [];
        const batches: { readonly list: readonly number[]; readonly at: number }[] = [];
        const collector = new BatchCollector<number>({ size, wait }, clock, (list) =>
          batches.push({ list, at: clock.monotonic() }),
        );
        all.forEach((gap, index) => {
          clock.advance(gap);
          arrivals.push(clock.monotonic());
          collector.add(index);
        });
        clock.advance(wait);
        expect(batches.flatMap(({ list }) => list)).toEqual(all.map((_, index) => index));
        expect(collector.list).toEqual([]);
        expect(clock.pending).toEqual([]);
        for (const { list, at } of batches) {
          const waited = at - (arrivals[list[0] ?? 0] ?? 0);
          expect(list.length).toBeLessThanOrEqual(size);
          expect(list.length === size ? waited <= wait : waited === wait).toBe(true);
        }
      }),
    );
  });

  it('returns what it has collected, and forgets the time', () => {
    const clock = new FakeClock();
    const batches: (readonly string[])[] = [];
    const collector = new BatchCollector<string>({ size: 3, wait: 100 }, clock, (list) =>
      batches.push(list),
    );
    collector.add('a');
    collector.add('b');
    expect(collector.clear()).toEqual(['a', 'b']);
    expect(clock.pending).toEqual([]);
    collector.add('c');
    clock.advance(99);
    expect(batches).toEqual([]);
    clock.advance(1);
    expect(batches).toEqual([['c']]);
  });
});
