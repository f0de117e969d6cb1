import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RateWindow } from '../../../lib/settlement/rate-window';

describe('a rate window', () => {
  it('never lets more than the limit happen within any span, and never waits longer than needed', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 200 });
    const rates = fc.record({
      limit: fc.integer({ min: 1, max: 7 }),
      per: fc.integer({ min: 1, max: 100 }),
    });
    fc.assert(
      fc.property(rates, gaps, ({ limit, per }, arrivals) => {
        const window = new RateWindow({ limit, per });
        const times: number[] = [];
        let now = 0;
        for (const gap of arrivals) {
          now += gap;
          const delay = window.delay(now);
          const oldest = times.at(-limit);
          expect(delay).toBe(oldest === undefined ? 0 : Math.max(0, oldest + per - now));
          now += delay;
          expect(window.delay(now)).toBe(0);
          window.take(now);
          times.push(now);
        }
        times.forEach((time, index) => {
          const before = times[index - limit];
          if (before !== undefined) expect(time - before).toBeGreaterThanOrEqual(per);
        });
      }),
    );
  });
});
