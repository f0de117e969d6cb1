import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LONGEST_DELAY, milliseconds } from '../../../lib/model/duration';

describe('milliseconds', () => {
  it.each([
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['0s', 0],
    ['007s', 7_000],
  ])('reads %s as %i', (text, ms) => {
    expect(milliseconds(text)).toBe(ms);
  });

  it.each([
    ['0.4ms', 1],
    ['1.5ms', 2],
    ['1.0005s', 1_001],
    ['0.00001s', 1],
    ['0.00000000000000000001ms', 1],
  ])('rounds the fraction of %s up to %i', (text, ms) => {
    expect(milliseconds(text)).toBe(ms);
  });

  it.each([
    ['.5s', 500],
    ['1.s', 1_000],
    ['+1s', 1_000],
    ['1e3s', 1_000_000],
    ['0x10s', 16_000],
  ])('accepts %s, which the type allows, as %i ms', (text, ms) => {
    expect(milliseconds(text)).toBe(ms);
  });

  it('ignores floating-point errors', () => {
    expect(milliseconds('1.1s')).toBe(1_100);
    for (let tenths = 1; tenths <= 1_000; tenths++) {
      expect(milliseconds(`${tenths / 10}s`)).toBe(tenths * 100);
      expect(milliseconds(`${tenths / 100}m`)).toBe(tenths * 600);
    }
  });

  it.each([
    [0, 0],
    [0.4, 1],
    [1.5, 2],
    [2 ** 31, 2_147_483_648],
    [49 * 86_400_000, 4_233_600_000],
  ])('accepts the number %d as %i ms', (value, ms) => {
    expect(milliseconds(value)).toBe(ms);
  });

  it('accepts 49 days at most', () => {
    expect(LONGEST_DELAY).toBe(4_233_600_000);
    expect(milliseconds('49d')).toBe(LONGEST_DELAY);
    expect(milliseconds('1176h')).toBe(LONGEST_DELAY);
    expect(milliseconds(LONGEST_DELAY + 0.5)).toBeUndefined();
    expect(milliseconds('4233600001ms')).toBeUndefined();
    expect(milliseconds('50d')).toBeUndefined();
  });

  it.each([
    -1,
    -0.1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    2 ** 32,
    1e15,
    '500',
    '',
    's',
    '-1s',
    '1 s',
    ' 1s',
    '1s\n',
    '1S',
    '1sec',
    '1w',
    '1h30m',
    '1,5s',
    '٣s',
    'Infinityms',
    `${'9'.repeat(400)}s`,
    null,
    undefined,
    true,
    5n,
    [5],
    { ms: 5 },
    new Date(5),
    new Number(5),
    Symbol('5s'),
  ])('rejects %o', (value) => {
    expect(milliseconds(value)).toBeUndefined();
  });

  it('returns undefined or an integer within the limits for any value', () => {
    const texts = fc.stringMatching(/^-?\d{0,12}(\.\d{0,6})?(ms|s|m|h|d|w|)$/);
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.double(), texts), (value) => {
        const ms = milliseconds(value);
        if (ms === undefined) return;
        expect(Number.isInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(LONGEST_DELAY);
      }),
    );
  });
});
