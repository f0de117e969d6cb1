import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { routes } from '../../../lib/memory/routing';

function matches(pattern: string, key: string): boolean {
  const binding = { destination: 'queue', toExchange: false, key: pattern, arguments: {} };
  return routes('topic', binding, key, undefined);
}

/** A second implementation of topics: every way to distribute the words over the pattern. */
function naiveMatch(pattern: string, key: string): boolean {
  const parts = pattern === '' ? [] : pattern.split('.');
  const words = key === '' ? [] : key.split('.');
  let ends = new Set([0]);
  for (const part of parts) {
    const next = new Set<number>();
    for (const end of ends) {
      if (part === '#') for (let to = end; to <= words.length; to += 1) next.add(to);
      else if (end < words.length && (part === '*' || part === words[end])) next.add(end + 1);
    }
    ends = next;
  }
  return ends.has(words.length);
}

const word = fc.constantFrom('a', 'b', '', 'order');
const key = fc.array(word, { maxLength: 5 }).map((words) => words.join('.'));
const pattern = fc
  .array(fc.oneof(word, fc.constantFrom('*', '#')), { maxLength: 5 })
  .map((parts) => parts.join('.'));

describe('a topic exchange', () => {
  it('routes like a naive implementation', () => {
    fc.assert(
      fc.property(pattern, key, (one, other) => {
        expect(matches(one, other)).toBe(naiveMatch(one, other));
      }),
      { numRuns: 2_000 },
    );
  });

  it('matches a key with itself, and # with everything', () => {
    fc.assert(
      fc.property(key, (one) => {
        expect(matches(one, one)).toBe(true);
        expect(matches('#', one)).toBe(true);
      }),
    );
  });

  it('matches * with exactly one word', () => {
    expect(matches('*', '')).toBe(false);
    expect(matches('a.*', 'a')).toBe(false);
    expect(matches('a.*', 'a.')).toBe(true);
  });
});

describe('a headers exchange', () => {
  function matchesHeaders(wanted: object, headers: Record<string, unknown> | undefined): boolean {
    const binding = {
      destination: 'queue',
      toExchange: false,
      key: '',
      arguments: wanted as Record<string, unknown>,
    };
    return routes('headers', binding, '', headers);
  }

  it.each([
    ['all ignores keys that start with x-', { 'x-match': 'all', 'x-a': 1 }, {}, true],
    ['all-with-x needs them', { 'x-match': 'all-with-x', 'x-a': 1 }, {}, false],
    ['all-with-x matches them', { 'x-match': 'all-with-x', 'x-a': 1 }, { 'x-a': 1 }, true],
    [
      'any-with-x matches one of them',
      { 'x-match': 'any-with-x', 'x-a': 1, b: 2 },
      { 'x-a': 1 },
      true,
    ],
    ['any needs one match', { 'x-match': 'any', a: 1 }, { a: 2 }, false],
    ['a null value matches any value of the key', { a: null }, { a: 'whatever' }, true],
    ['a null value needs the key', { a: null }, {}, false],
    ['a message without headers does not match', { a: 1 }, undefined, false],
    ['inherited properties do not match', { toString: null }, {}, false],
  ])('%s', (_what, wanted, headers, isMatch) => {
    expect(matchesHeaders(wanted, headers)).toBe(isMatch);
  });
});
