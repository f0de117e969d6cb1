import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { routes } from '../../../lib/memory/routing';

function lets(pattern: string, key: string): boolean {
  const binding = { destination: 'queue', toExchange: false, key: pattern, arguments: {} };
  return routes('topic', binding, key, undefined);
}

/** The rule of topics written down once more: every way to share the words out among the pattern. */
function naive(pattern: string, key: string): boolean {
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

describe('topics', () => {
  it('match as a naive matcher says', () => {
    fc.assert(
      fc.property(pattern, key, (one, other) => {
        expect(lets(one, other)).toBe(naive(one, other));
      }),
      { numRuns: 2_000 },
    );
  });

  it('match a key against itself, and # against everything', () => {
    fc.assert(
      fc.property(key, (one) => {
        expect(lets(one, one)).toBe(true);
        expect(lets('#', one)).toBe(true);
      }),
    );
  });

  it('take a star for one word, no less', () => {
    expect(lets('*', '')).toBe(false);
    expect(lets('a.*', 'a')).toBe(false);
    expect(lets('a.*', 'a.')).toBe(true);
  });
});

describe('headers', () => {
  function letsHeaders(wanted: object, headers: Record<string, unknown> | undefined): boolean {
    const binding = {
      destination: 'queue',
      toExchange: false,
      key: '',
      arguments: wanted as Record<string, unknown>,
    };
    return routes('headers', binding, '', headers);
  }

  it.each([
    ['all with a key that begins with x-', { 'x-match': 'all', 'x-a': 1 }, {}, true],
    ['all-with-x with such a key', { 'x-match': 'all-with-x', 'x-a': 1 }, {}, false],
    ['all-with-x, and it is there', { 'x-match': 'all-with-x', 'x-a': 1 }, { 'x-a': 1 }, true],
    [
      'any-with-x, and it is there',
      { 'x-match': 'any-with-x', 'x-a': 1, b: 2 },
      { 'x-a': 1 },
      true,
    ],
    ['any without one that matches', { 'x-match': 'any', a: 1 }, { a: 2 }, false],
    ['no value, which asks for the key alone', { a: null }, { a: 'whatever' }, true],
    ['no value, and no such key', { a: null }, {}, false],
    ['a message without headers', { a: 1 }, undefined, false],
    ['a name of the prototype', { toString: null }, {}, false],
  ])('%s', (_what, wanted, headers, through) => {
    expect(letsHeaders(wanted, headers)).toBe(through);
  });
});
