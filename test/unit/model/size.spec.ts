import { describe, expect, it } from 'vitest';
import { bytes, sizeText } from '../../../lib/model/size';

describe('bytes', () => {
  it.each([
    [1, 1],
    ['1B', 1],
    ['64kB', 64_000],
    ['64KB', 64_000],
    ['1.5KiB', 1_536],
    ['16MiB', 16_777_216],
    ['10MB', 10_000_000],
    ['1GiB', 1_073_741_824],
    [2 ** 31 - 1, 2 ** 31 - 1],
    ['1.0001B', 1],
  ])('of %j is %d', (size, expected) => {
    expect(bytes(size)).toBe(expected);
  });

  it.each([
    ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, undefined, null, true, {}],
    ...['', '16', '16 MiB', 'MiB', '2GiB', '16mib', '16iB', '-1MiB', `${'1'.repeat(60)}B`],
  ])('of %j is undefined', (size) => {
    expect(bytes(size)).toBeUndefined();
  });
});

it.each([
  [16_777_216, '16MiB'],
  [1_024, '1KiB'],
  [1_000, '1000B'],
])('sizeText(%d) is %s', (count, expected) => {
  expect(sizeText(count)).toBe(expected);
});
