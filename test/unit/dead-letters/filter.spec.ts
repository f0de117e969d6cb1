import { describe, expect, it } from 'vitest';
import { describeLetter } from '../../../lib/dead-letters/describe';
import { type DeadLetterFilter, matcherOf } from '../../../lib/dead-letters/filter';
import { groupKeyOf } from '../../../lib/dead-letters/groups';
import { messageOf } from './fixtures';

const letter = describeLetter(
  messageOf(
    {
      'x-settle-reason': 'timeout',
      'x-settle-error-name': 'BankTimeout',
      'x-settle-handler': 'Billing.charge',
      'x-settle-failed-at': '2026-12-01T08:00:00.000Z',
      'x-settle-queue': 'billing',
    },
    { messageId: 'm-1' },
  ),
  'dead',
);

const matches = (where: DeadLetterFilter): boolean => matcherOf(where)(letter);

describe('matcherOf', () => {
  it.each<DeadLetterFilter>([
    {},
    { reason: 'timeout' },
    { reason: ['error', 'timeout'], errorName: 'BankTimeout' },
    { handler: 'Billing.charge', messageId: ['m-1'] },
    { group: groupKeyOf(letter) },
    { from: '2026-12-01T08:00:00Z', to: new Date('2026-12-01T08:00:00Z') },
    { to: Date.parse('2026-12-02'), reason: undefined },
  ])('matches %o', (where) => {
    expect(matches(where)).toBe(true);
  });

  it.each<DeadLetterFilter>([
    { reason: 'error' },
    { reason: [] },
    { reason: 'timeout', errorName: 'Other' },
    { messageId: 'm-2' },
    { group: 'other' },
    { from: '2026-12-01T08:00:01Z' },
    { to: '2026-12-01T07:59:59Z' },
  ])('does not match %o', (where) => {
    expect(matches(where)).toBe(false);
  });

  it('does not match times of a message without one', () => {
    const unknown = describeLetter(messageOf({}), 'dead');
    expect(matcherOf({ from: 0 })(unknown)).toBe(false);
    expect(matcherOf({ to: Date.parse('2100-01-01') })(unknown)).toBe(false);
  });

  it.each([
    [{ reasons: 'timeout' }, 'where: expected reason'],
    [{ __proto__: null, toString: 'x' }, 'where: expected reason'],
    [{ reason: 5 }, 'where.reason: expected a string'],
    [{ handler: ['x', 5] }, 'where.handler: expected a string'],
    [{ from: 'yesterday' }, 'where.from: expected a date'],
    [{ to: {} }, 'where.to: expected a date'],
  ])('refuses %o', (where, text) => {
    expect(() => matcherOf(where as DeadLetterFilter)).toThrow(text);
  });
});
