import { describe, expect, it } from 'vitest';
import { matchesTopic } from '../../../lib/delivery/topic-pattern';

describe('matchesTopic', () => {
  it.each([
    ['', ''],
    ['#', ''],
    ['#', 'a.b.c'],
    ['a.#', 'a'],
    ['a.#', 'a.b.c'],
    ['#.c', 'c'],
    ['#.c', 'a.b.c'],
    ['a.*', 'a.b'],
    ['*.*', 'a.b'],
    ['a.#.c', 'a.c'],
    ['a.#.c', 'a.c.b.c'],
    ['#.b.#', 'a.b.c'],
    ['#.#', ''],
    ['*.#', '.'],
    ['a..b', 'a..b'],
  ])('%j matches %j', (pattern, key) => {
    expect(matchesTopic(pattern, key)).toBe(true);
  });

  it.each([
    ['', 'a'],
    ['a', ''],
    ['*', ''],
    ['a.*', 'a'],
    ['a.*', 'a.b.c'],
    ['*', 'a.b'],
    ['#.c', 'a.c.b'],
    ['a.#.c', 'a.b'],
    ['order', 'Order'],
    ['a.b', 'a.b.c'],
  ])('%j does not match %j', (pattern, key) => {
    expect(matchesTopic(pattern, key)).toBe(false);
  });

  it('takes no time that grows with the number of combinations', () => {
    const pattern = `${'#.a.'.repeat(40)}b`;
    expect(matchesTopic(pattern, 'a.'.repeat(100))).toBe(false);
  });
});
