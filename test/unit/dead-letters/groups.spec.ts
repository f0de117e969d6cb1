import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeadLetterGroups, groupKeyOf } from '../../../lib/dead-letters/groups';
import { normalisedMessage } from '../../../lib/dead-letters/normalise';

describe('normalisedMessage', () => {
  it.each([
    ['Order 4711 not found', 'Order <n> not found'],
    ['connect ECONNREFUSED 10.0.0.17:5432', 'connect ECONNREFUSED <n>:<n>'],
    ['no user 3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'no user <id>'],
    ['document 507f1f77bcf86cd799439011 is locked', 'document <id> is locked'],
    ['commit 9fceb02 is unknown', 'commit <id> is unknown'],
    ['expired at 2026-12-01T08:00:00.000Z', 'expired at <time>'],
    ['amount 1,234.50 above\n  limit 1000', 'amount <n> above limit <n>'],
    ['authentication-required', 'authentication-required'],
    ['deadbeef facade', 'deadbeef facade'],
  ])('%s: %s', (message, expected) => {
    expect(normalisedMessage(message)).toBe(expected);
  });

  it('leaves no digit, and does not change what it has made', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (message) => {
        const once = normalisedMessage(message);
        expect(once).not.toMatch(/\d/);
        expect(normalisedMessage(once)).toBe(once);
      }),
    );
  });

  it('is the same for all numbers', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (one, other) => {
        const text = (number: number): string => `Order ${number} of customer ${number} failed`;
        expect(normalisedMessage(text(one))).toBe(normalisedMessage(text(other)));
      }),
    );
  });

  it('takes linear time', () => {
    const started = performance.now();
    for (const part of ['a', '1', '1.', '-', 'a1', ' ', '0x', '2026-01-']) {
      normalisedMessage(part.repeat(20_000));
    }
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

const anyLetter = fc.record({
  reason: fc.constantFrom('error', 'timeout'),
  errorName: fc.option(fc.constantFrom('A', 'B'), { nil: undefined }),
  errorMessage: fc.option(fc.constantFrom('no 1', 'no 2', 'yes'), { nil: undefined }),
  handler: fc.option(fc.constantFrom('X.y'), { nil: undefined }),
  failedAt: fc.option(fc.date({ noInvalidDate: true }), { nil: undefined }),
});

describe('DeadLetterGroups', () => {
  it('counts every letter once, in the group of its key, with the times of its members', () => {
    fc.assert(
      fc.property(fc.array(anyLetter), (letters) => {
        const groups = new DeadLetterGroups();
        for (const letter of letters) groups.add(letter);
        const { list } = groups;
        expect(new Set(list.map(({ key }) => key)).size).toBe(list.length);
        for (const group of list) {
          const members = letters.filter((letter) => groupKeyOf(letter) === group.key);
          const times = members.flatMap(({ failedAt }) => (failedAt ? [failedAt.getTime()] : []));
          expect(group.count).toBe(members.length);
          expect(group.from?.getTime()).toBe(times.length ? Math.min(...times) : undefined);
          expect(group.to?.getTime()).toBe(times.length ? Math.max(...times) : undefined);
        }
        expect(list.reduce((sum, { count }) => sum + count, 0)).toBe(letters.length);
        expect(list.map(({ count }) => count)).toEqual(
          list.map(({ count }) => count).sort((one, other) => other - one),
        );
      }),
    );
  });
});
