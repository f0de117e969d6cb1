import { describe, expect, it } from 'vitest';
import { permissionOf, tokenOf } from '../../../lib/dead-letters/discard';

describe('the token of a dry run', () => {
  const options = { where: { reason: 'error', handler: 'A.b' }, limit: 5 };
  const confirm = tokenOf('dead', options, { count: 3, at: 1_760_000_000_000 });

  it('permits what was counted', () => {
    const reordered = { where: { handler: 'A.b', reason: 'error' }, limit: 5, confirm };
    expect(permissionOf('dead', reordered)).toEqual({ count: 3, at: 1_760_000_000_000 });
  });

  it.each([
    ['another queue', 'other', options],
    ['another filter', 'dead', { ...options, where: { reason: 'error' } }],
    ['no filter', 'dead', { limit: 5 }],
    ['another limit', 'dead', { ...options, limit: 6 }],
    ['ids', 'dead', { ...options, ids: ['a'] }],
  ])('is not valid for %s', (_what, queue, other) => {
    expect(() => permissionOf(queue, { ...other, confirm })).toThrow('confirm: expected the token');
  });

  it.each(['', 'yes', confirm.replace('3-', '4-'), `${confirm}0`, confirm.slice(0, -1)])(
    'cannot be made up: %s',
    (token) => {
      expect(() => permissionOf('dead', { ...options, confirm: token })).toThrow('confirm');
    },
  );

  it('is required', () => {
    expect(() => permissionOf('dead', options)).toThrow('discard deletes messages');
  });
});
