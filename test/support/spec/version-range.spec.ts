import { describe, expect, it } from 'vitest';
import { describeRange, includes, type Release } from '../version-range';

const because = 'of a change';

describe('a range of versions', () => {
  it.each<[string, Release | undefined, Release | undefined, boolean]>([
    ['4.3.0', '4.3', undefined, true],
    ['4.10.1', '4.3', undefined, true],
    ['4.2.9', '4.3', undefined, false],
    ['3.10.8', '4.0', undefined, false],
    ['3.13.7', undefined, '4.0', true],
    ['4.0.0', undefined, '4.0', false],
    ['4.0.5', '4.0', '4.3', true],
    ['4.3.6', '4.0', '4.3', false],
    ['3.10.8', undefined, undefined, true],
  ])('%s from %s before %s: %s', (version, from, before, expected) => {
    const range = { ...(from && { from }), ...(before && { before }), because };
    expect(includes(range, version)).toBe(expected);
  });

  it('describes its limits and its reason', () => {
    expect(describeRange({ from: '4.3', because })).toBe('RabbitMQ from 4.3 on: of a change');
    expect(describeRange({ before: '4.0', because })).toBe('RabbitMQ before 4.0: of a change');
    expect(describeRange({ from: '4.0', before: '4.3', because })).toBe(
      'RabbitMQ from 4.0 on, before 4.3: of a change',
    );
  });
});
