import { describe, expect, it } from 'vitest';
import { delaysOf, FULL, latenessOf, QUICK } from '../../../../bench/run/delays.mjs';

describe('the delays of the measurement', () => {
  it.each([
    ['full', FULL],
    ['quick', QUICK],
  ])('all differ and range from 50 ms to the longest (%s)', (_name, size) => {
    const delays = delaysOf(size);
    expect(new Set(delays).size).toBe(size.differentDelays);
    expect(delays[0]).toBe(50);
    expect(delays.at(-1)).toBe(size.longestMs);
    expect(delays.every(Number.isInteger)).toBe(true);
  });
});

describe('lateness', () => {
  it('is the observed delay minus the requested one', () => {
    const seen = Array.from({ length: 101 }, (_, late) => ({
      requestedMs: 1000,
      seenMs: 1000 + late,
    }));
    expect(latenessOf(seen)).toEqual({ least: 0, p50: 50, p99: 99, allowanceUsedP99: -26 });
  });

  it('is negative for a message that is early', () => {
    const late = latenessOf([
      { requestedMs: 100, seenMs: 99 },
      { requestedMs: 100, seenMs: 110 },
    ]);
    expect(late.least).toBe(-1);
  });

  it('beyond the rounding is measured per message: a long delay does not excuse a short one', () => {
    const { p99, allowanceUsedP99 } = latenessOf([{ requestedMs: 80, seenMs: 190 }]);
    expect(p99).toBe(110);
    expect(allowanceUsedP99).toBe(100);
  });
});
