import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  median,
  medianInterval,
  percentile,
  ratiosOf,
  verdictOf,
} from '../../../../bench/statistics.mjs';

const numbers = fc.array(fc.double({ min: 0.1, max: 1e6, noNaN: true }), {
  minLength: 1,
  maxLength: 20,
});

describe('the median', () => {
  it.each([
    [[3], 3],
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
    [[10, 9, 100], 10],
  ])('of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  it('does not change its input', () => {
    const values = [3, 1, 2];
    median(values);
    expect(values).toEqual([3, 1, 2]);
  });

  it('of an empty list is NaN', () => {
    expect(median([])).toBeNaN();
  });
});

describe('a percentile', () => {
  it.each([
    [0, 0],
    [50, 50],
    [99, 99],
    [99.5, 99.5],
    [100, 100],
  ])('%d of 0 to 100 is %d', (percentage, expected) => {
    const values = Array.from({ length: 101 }, (_, index) => 100 - index);
    expect(percentile(values, percentage)).toBeCloseTo(expected, 10);
  });
});

describe('ratios', () => {
  it('are computed per round', () => {
    expect(ratiosOf([10, 30], [5, 10])).toEqual([2, 3]);
  });

  it('skip rounds that only one has', () => {
    expect(ratiosOf([10, 30, 8], [5])).toEqual([2]);
    expect(ratiosOf([10], [5, 1])).toEqual([2]);
  });
});

describe('the interval of a median', () => {
  it('of one value is that value', () => {
    expect(medianInterval([7])).toEqual({ middle: 7, low: 7, high: 7 });
  });

  it('of equal values is that value', () => {
    expect(medianInterval([2, 2, 2, 2])).toEqual({ middle: 2, low: 2, high: 2 });
  });

  it('is exact if all draws can be enumerated', () => {
    // Of two values a draw has both of one, both of the other, or one each: 1/4, 1/4, 1/2.
    expect(medianInterval([1, 3])).toEqual({ middle: 2, low: 1, high: 3 });
    // Of nine values the median of a draw is the lowest in 0.1 % of all draws, one of the two lowest in 3.1 %.
    const nine = medianInterval([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(nine).toEqual({ middle: 5, low: 2, high: 8 });
  });

  it('is reproducible', () => {
    const values = [1.2, 1.5, 1.1, 1.9, 1.4];
    expect(medianInterval(values)).toEqual(medianInterval(values));
  });

  it('contains the median and lies within the values', () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const { low, middle, high } = medianInterval(values, 200);
        expect(low).toBeLessThanOrEqual(middle);
        expect(high).toBeGreaterThanOrEqual(middle);
        expect(low).toBeGreaterThanOrEqual(Math.min(...values));
        expect(high).toBeLessThanOrEqual(Math.max(...values));
      }),
      { numRuns: 50 },
    );
  });

  it('scales with the values', () => {
    const values = [1, 2, 4, 8, 16, 32, 64];
    const { low, high } = medianInterval(values);
    const tenfold = medianInterval(values.map((value) => value * 10));
    expect(tenfold).toMatchObject({ low: low * 10, high: high * 10 });
    expect(low).toBeLessThan(high);
  });
});

describe('a verdict', () => {
  it.each([
    [1.5, 1.41, 1.6, { atLeast: 1.4 }, 'reached'],
    [1.4, 1.4, 1.6, { atLeast: 1.4 }, 'reached'],
    [1.5, 1.39, 1.6, { atLeast: 1.4 }, 'reached, interval crosses'],
    [1.3, 1.2, 1.4, { atLeast: 1.4 }, 'missed, interval crosses'],
    [1.3, 1.2, 1.39, { atLeast: 1.4 }, 'missed'],
    [0.7, 0.6, 0.75, { atMost: 0.75 }, 'reached'],
    [0.7, 0.6, 0.76, { atMost: 0.75 }, 'reached, interval crosses'],
    [0.8, 0.75, 0.9, { atMost: 0.75 }, 'missed, interval crosses'],
    [0.8, 0.76, 0.9, { atMost: 0.75 }, 'missed'],
  ])('of %d [%d, %d] against %j is "%s"', (middle, low, high, limit, expected) => {
    expect(verdictOf({ middle, low, high }, limit)).toBe(expected);
  });
});
