import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AttemptResult,
  KillSwitch,
  type KillSwitchLimits,
} from '../../../lib/lifecycle/kill-switch';
import { SlidingWindow } from '../../../lib/lifecycle/sliding-window';

const LIMITS: KillSwitchLimits = {
  failures: 0.5,
  minimum: 4,
  window: 60_000,
  pause: 30_000,
  max: 100_000,
};

/** A switch, and what it does with results of attempts that take no time. */
function aSwitch(limits: Partial<KillSwitchLimits> = {}) {
  const killSwitch = new KillSwitch({ ...LIMITS, ...limits });
  const end = (result: AttemptResult, now = 0) => killSwitch.ended(result, now, now);
  const fail = (times: number, now = 0) =>
    Array.from({ length: times }, () => end('failure', now)).at(-1);
  return { killSwitch, end, fail };
}

describe('a kill switch', () => {
  it('trips where nothing ever succeeds, at the minimum', () => {
    const { killSwitch, fail } = aSwitch();
    expect(fail(3)).toBeUndefined();
    expect(fail(1)).toEqual({
      to: 'tripped',
      pauseMs: 30_000,
      counts: { attempts: 4, failures: 4 },
    });
    expect(killSwitch.state).toBe('tripped');
  });

  it('trips only with a failure, and only if the share is reached', () => {
    const { killSwitch, end, fail } = aSwitch();
    for (let index = 0; index < 5; index += 1) end('success');
    expect(fail(4)).toBeUndefined();
    expect(fail(1)).toMatchObject({ counts: { attempts: 10, failures: 5 } });
    expect(killSwitch.state).toBe('tripped');
  });

  it('is not diluted by the successes of an hour', () => {
    const { end, fail } = aSwitch();
    for (let second = 0; second < 3_600; second += 1) end('success', 1_000 * second);
    expect(fail(4, 3_600_000 + 66_001)).toMatchObject({ counts: { attempts: 4, failures: 4 } });
  });

  it('ignores what says nothing', () => {
    const { end, fail } = aSwitch();
    for (let index = 0; index < 100; index += 1) end('neutral');
    fail(3);
    expect(fail(1)).toMatchObject({ counts: { attempts: 4 } });
  });

  it('ignores what ends while it is tripped', () => {
    const { killSwitch, end, fail } = aSwitch();
    fail(4);
    expect(end('success', 10)).toBeUndefined();
    expect(end('failure', 10)).toBeUndefined();
    expect(killSwitch.state).toBe('tripped');
  });

  it('closes with the first success of a probe, and has forgotten everything', () => {
    const { killSwitch, end, fail } = aSwitch();
    fail(4);
    killSwitch.probe(30_000);
    expect(end('neutral', 30_001)).toBeUndefined();
    expect(killSwitch.state).toBe('probing');
    expect(end('success', 30_002)).toEqual({ to: 'closed' });
    expect(fail(3, 30_003)).toBeUndefined();
  });

  it('doubles the pause with each failed probe, up to the maximum, and starts anew once closed', () => {
    const { killSwitch, end, fail } = aSwitch();
    fail(4);
    const pauses = [1, 2, 3].map((now) => {
      killSwitch.probe(now);
      return end('failure', now);
    });
    expect(pauses).toMatchObject([{ pauseMs: 60_000 }, { pauseMs: 100_000 }, { pauseMs: 100_000 }]);
    killSwitch.probe(4);
    end('success', 4);
    expect(fail(4, 5)).toMatchObject({ pauseMs: 30_000 });
  });

  it('takes no attempt that began before for a probe', () => {
    const { killSwitch, fail } = aSwitch();
    fail(4);
    killSwitch.probe(30_000);
    expect(killSwitch.ended('failure', 29_999, 30_001)).toBeUndefined();
    expect(killSwitch.ended('success', 29_999, 30_001)).toBeUndefined();
    expect(killSwitch.state).toBe('probing');
  });

  it('is closed by hand', () => {
    const { killSwitch, fail } = aSwitch();
    expect(killSwitch.close()).toBeUndefined();
    fail(4);
    expect(killSwitch.close()).toEqual({ to: 'closed' });
    killSwitch.probe(1);
    expect(killSwitch.state).toBe('closed');
  });
});

const result = fc.constantFrom<AttemptResult>('success', 'failure', 'neutral');
const limits: fc.Arbitrary<KillSwitchLimits> = fc
  .record({
    failures: fc.double({ min: 0.01, max: 1, noNaN: true }),
    minimum: fc.integer({ min: 1, max: 20 }),
    window: fc.integer({ min: 10, max: 1_000 }),
    pause: fc.integer({ min: 1, max: 100 }),
    more: fc.integer({ min: 0, max: 1_000 }),
  })
  .map(({ more, ...rest }) => ({ ...rest, max: rest.pause + more }));
const steps = fc.array(fc.record({ result, waited: fc.integer({ min: 0, max: 50 }) }), {
  maxLength: 200,
});

describe('a kill switch, for any limits and results', () => {
  it('trips from closed with no fewer attempts than the minimum, nor a smaller share of failures', () => {
    fc.assert(
      fc.property(limits, steps, (given, attempts) => {
        const killSwitch = new KillSwitch(given);
        let now = 0;
        for (const attempt of attempts) {
          now += attempt.waited;
          const change = killSwitch.ended(attempt.result, now, now);
          if (change?.to !== 'tripped') continue;
          expect(attempt.result).toBe('failure');
          expect(change.counts.attempts).toBeGreaterThanOrEqual(given.minimum);
          const share = change.counts.failures / change.counts.attempts;
          expect(share).toBeGreaterThanOrEqual(given.failures - 1e-9);
          return;
        }
      }),
    );
  });

  it('lets no more fail in a row than the minimum, whatever it has seen outside of its window', () => {
    fc.assert(
      fc.property(limits, steps, (given, attempts) => {
        const killSwitch = new KillSwitch(given);
        let now = 0;
        for (const attempt of attempts) {
          now += attempt.waited;
          if (killSwitch.state === 'closed') killSwitch.ended(attempt.result, now, now);
        }
        if (killSwitch.state !== 'closed') return;
        now += 2 * given.window;
        for (let index = 0; index < given.minimum; index += 1) {
          killSwitch.ended('failure', now, now);
        }
        expect(killSwitch.state).toBe('tripped');
      }),
    );
  });

  it('pauses for the pause at least and the maximum at most, never for less than before while nothing succeeds', () => {
    fc.assert(
      fc.property(limits, steps, (given, attempts) => {
        const killSwitch = new KillSwitch(given);
        let [now, last] = [0, 0];
        for (const attempt of attempts) {
          now += attempt.waited;
          if (killSwitch.state === 'tripped') killSwitch.probe(now);
          const change = killSwitch.ended(attempt.result, now, now);
          if (change?.to === 'closed') last = 0;
          if (change?.to !== 'tripped') continue;
          expect(change.pauseMs).toBeGreaterThanOrEqual(Math.max(given.pause, last));
          expect(change.pauseMs).toBeLessThanOrEqual(given.max);
          last = change.pauseMs;
        }
      }),
    );
  });
});

describe('a sliding window', () => {
  it('counts everything within it, and nothing that is older by more than a tenth', () => {
    const attempt = fc.record({
      isFailure: fc.boolean(),
      waited: fc.integer({ min: 0, max: 400 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.array(attempt), (span, attempts) => {
        const window = new SlidingWindow(span);
        const seen: { readonly at: number; readonly isFailure: boolean }[] = [];
        let now = 0;
        for (const { isFailure, waited } of attempts) {
          now += waited;
          window.add(isFailure, now);
          seen.push({ at: now, isFailure });
          const within = (ms: number) => seen.filter(({ at }) => at > now - ms);
          const counts = window.counts(now);
          expect(counts.attempts).toBeGreaterThanOrEqual(within(span).length);
          expect(counts.attempts).toBeLessThanOrEqual(within(1.1 * span + 1e-6).length);
          expect(counts.failures).toBeLessThanOrEqual(counts.attempts);
          const failures = within(span).filter((one) => one.isFailure).length;
          expect(counts.failures).toBeGreaterThanOrEqual(failures);
        }
      }),
    );
  });
});
