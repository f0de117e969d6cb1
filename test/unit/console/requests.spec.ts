import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BadRequest,
  countOf,
  fieldsOf,
  selectionOf,
  textOf,
  whereOf,
} from '../../../lib/console/requests';

describe('the body of a request', () => {
  it.each([undefined, null, 'text', 5, [], [{}]])('is refused if it is %o', (body) => {
    expect(() => fieldsOf(body)).toThrow(BadRequest);
  });

  it('selects by filters, ids and a limit', () => {
    const where = { reason: 'error', errorName: 'A', handler: 'B.c', messageId: 'm', group: 'g' };
    const times = { from: '2026-12-01', to: '2026-12-02' };
    expect(selectionOf({ where: { ...where, ...times }, ids: ['a'], limit: 5 })).toEqual({
      ...{ where: { ...where, ...times }, ids: ['a'], limit: 5 },
    });
    expect(selectionOf({})).toEqual({ where: {}, ids: undefined, limit: undefined });
  });

  it.each([
    ['no ids', { ids: [] }],
    ['more ids than a page selects', { ids: Array.from({ length: 5_001 }, () => 'a') }],
    ['ids that are not texts', { ids: ['a', 5] }],
    ['a list as text', { ids: 'a' }],
    ['a misspelt filter, which would select everything', { where: { reson: 'error' } }],
    ['a filter that is not a text', { where: { reason: ['error'] } }],
    ['a filter by a name of every object', { where: { constructor: 'error' } }],
    ['a filter that is not an object', { where: 'error' }],
    ['null as filter', { where: null }],
    ['a limit of 0', { limit: 0 }],
    ['a limit as text', { limit: '5' }],
    ['a limit that is not whole', { limit: 1.5 }],
  ])('is refused with %s', (_what, fields) => {
    expect(() => selectionOf(fields)).toThrow(BadRequest);
  });

  it('is refused with a short text, whatever it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything()), (fields) => {
        for (const read of [selectionOf, whereOf]) {
          try {
            read(fields);
          } catch (error) {
            expect(error).toBeInstanceOf(BadRequest);
            expect((error as Error).message.length).toBeLessThan(200);
          }
        }
      }),
    );
  });

  it('does not reach the prototype of the filter', () => {
    const fields = JSON.parse('{"__proto__": {"reason": "error"}, "reason": "x"}');
    expect(() => whereOf(fields)).toThrow(BadRequest);
  });

  it('has numbers above 0 and texts, or none', () => {
    expect(countOf({ rate: 5 }, 'rate')).toBe(5);
    expect(countOf({}, 'rate')).toBeUndefined();
    for (const rate of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '5', null, true]) {
      expect(() => countOf({ rate }, 'rate')).toThrow('rate');
    }
    expect(textOf({ to: 'q' }, 'to')).toBe('q');
    expect(textOf({}, 'to')).toBeUndefined();
    for (const to of [5, null, ['q'], {}]) expect(() => textOf({ to }, 'to')).toThrow('to');
  });
});
