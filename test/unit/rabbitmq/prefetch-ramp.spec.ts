import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PrefetchRamp } from '../../../lib/rabbitmq/prefetch-ramp';

/** The prefetches from the start of a ramp until it is at the top. */
function sequence(configured: number): number[] {
  const ramp = new PrefetchRamp(configured);
  ramp.restart();
  const seen = [ramp.prefetch];
  while (!ramp.isAtTop) {
    ramp.succeeded();
    seen.push(ramp.prefetch);
  }
  return seen;
}

describe('the prefetch of a slow start', () => {
  it.each<[configured: number, expected: number[]]>([
    [1, [1]],
    [2, [1, 2]],
    [10, [1, 2, 4, 8, 10]],
    [50, [1, 2, 4, 8, 16, 32, 50]],
  ])('rises to %i by doubling', (configured, expected) => {
    expect(sequence(configured)).toEqual(expected);
  });

  it('is the configured one before the start', () => {
    const ramp = new PrefetchRamp(50);
    expect([ramp.prefetch, ramp.isAtTop]).toEqual([50, true]);
  });

  it('is never 0 nor above the configured one, whatever happens', () => {
    const events = fc.array(fc.constantFrom('restart', 'succeeded'));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 65_535 }), events, (configured, happened) => {
        const ramp = new PrefetchRamp(configured);
        for (const event of happened) {
          const before = ramp.prefetch;
          ramp[event as 'restart' | 'succeeded']();
          expect(ramp.prefetch).toBeGreaterThanOrEqual(1);
          expect(ramp.prefetch).toBeLessThanOrEqual(configured);
          expect(ramp.prefetch).toBeLessThanOrEqual(before * 2);
          expect(ramp.isAtTop).toBe(ramp.prefetch === configured);
        }
      }),
    );
  });

  it('lets a consumer begin only if it never exceeds the configured prefetch with what is unsettled', () => {
    const ramp = new PrefetchRamp(10);
    expect(ramp.allows(8, 2)).toBe(true);
    expect(ramp.allows(8, 3)).toBe(false);
    expect(ramp.allows(10, 0)).toBe(true);
    expect(ramp.allows(10, 1)).toBe(false);
  });
});
