import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type Backoff,
  backoffDeclarationOf,
  DEFAULT_BACKOFF,
  exponential,
  fixed,
  linear,
  steps,
} from '../../../lib/model/backoff';
import { LONGEST_DELAY } from '../../../lib/model/duration';

const firstTen = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

function delays(backoff: Backoff): number[] {
  return firstTen.map((attempt) => backoff.delay(attempt));
}

describe('the delays after attempts 1 to 10', () => {
  it.each<[string, Backoff, readonly number[]]>([
    ["fixed('2s')", fixed('2s'), firstTen.map(() => 2_000)],
    ["linear('1s')", linear('1s'), firstTen.map((attempt) => attempt * 1_000)],
    [
      "linear('5s', { max: '30s' })",
      linear('5s', { max: '30s' }),
      [5_000, 10_000, 15_000, 20_000, 25_000, 30_000, 30_000, 30_000, 30_000, 30_000],
    ],
    [
      "exponential('1s')",
      exponential('1s'),
      [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000],
    ],
    [
      "exponential('1s', { max: '5m' }), the default",
      DEFAULT_BACKOFF,
      [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000],
    ],
    [
      "exponential('100ms', { factor: 3, max: '1m' })",
      exponential('100ms', { factor: 3, max: '1m' }),
      [100, 300, 900, 2_700, 8_100, 24_300, 60_000, 60_000, 60_000, 60_000],
    ],
    [
      'exponential with factor 1.5, rounded up to integers',
      exponential(1, { factor: 1.5 }),
      [1, 2, 3, 4, 6, 8, 12, 18, 26, 39],
    ],
    ['exponential with factor 1', exponential(7, { factor: 1 }), firstTen.map(() => 7)],
    [
      "steps(['1s', '10s', '1m'])",
      steps(['1s', '10s', '1m']),
      [1_000, 10_000, ...Array<number>(8).fill(60_000)],
    ],
    ['decreasing steps', steps(['1m', '1s']), [60_000, ...Array<number>(9).fill(1_000)]],
    ['steps with a 0 among them', steps([5, 0, 7]), [5, 0, ...Array<number>(8).fill(7)]],
  ])('%s', (_name, backoff, expected) => {
    expect(delays(backoff)).toEqual(expected);
  });

  it('a maximum below the first delay applies from the first attempt', () => {
    expect(delays(linear('10s', { max: '1s' }))).toEqual(firstTen.map(() => 1_000));
    expect(delays(exponential('10s', { max: '1s' }))).toEqual(firstTen.map(() => 1_000));
  });
});

const duration = fc.integer({ min: 0, max: LONGEST_DELAY });
const jitter = fc.double({ min: 0, max: 1, noNaN: true });
const attempt = fc.oneof(
  fc.integer({ min: 1, max: 10_000 }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const plain: fc.Arbitrary<(jitter: number) => Backoff> = fc.oneof(
  duration.map((ms) => (j: number) => fixed(ms, { jitter: j })),
  fc.tuple(duration, duration).map(
    ([ms, max]) =>
      (j: number) =>
        linear(ms, { max, jitter: j }),
  ),
  fc.tuple(duration, duration, fc.double({ min: 1, max: 100, noNaN: true })).map(
    ([ms, max, factor]) =>
      (j: number) =>
        exponential(ms, { factor, max, jitter: j }),
  ),
  fc.array(duration, { minLength: 1 }).map((list) => (j: number) => steps(list, { jitter: j })),
);

describe('a delay', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('is an integer from 0 to 49 days, for any attempt', () => {
    fc.assert(
      fc.property(plain, jitter, attempt, (backoff, j, n) => {
        const ms = backoff(j).delay(n);
        expect(Number.isInteger(ms)).toBe(true);
        expect(ms).toBeGreaterThanOrEqual(0);
        expect(ms).toBeLessThanOrEqual(LONGEST_DELAY);
      }),
      { numRuns: 500 },
    );
  });

  it('with jitter j is never shorter and at most 1 + j times as long', () => {
    fc.assert(
      fc.property(plain, jitter, attempt, (backoff, j, n) => {
        const base = backoff(0).delay(n);
        const ms = backoff(j).delay(n);
        expect(ms).toBeGreaterThanOrEqual(base);
        expect(ms).toBeLessThanOrEqual(Math.min(LONGEST_DELAY, Math.ceil(base * (1 + j))));
      }),
      { numRuns: 500 },
    );
  });

  it('covers the whole range of its jitter', () => {
    const random = vi.spyOn(Math, 'random');
    for (const make of [
      () => fixed('1s', { jitter: 0.2 }),
      () => linear('1s', { jitter: 0.2 }),
      () => exponential('1s', { jitter: 0.2 }),
      () => steps(['1s'], { jitter: 0.2 }),
    ]) {
      random.mockReturnValueOnce(0);
      expect(make().delay(1)).toBe(1_000);
      random.mockReturnValueOnce(1 - 2 ** -52);
      expect(make().delay(1)).toBe(1_200);
    }
  });

  it('uses a new random number each time', () => {
    const random = vi.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(0.5);
    const backoff = fixed('1s', { jitter: 1 });
    expect([backoff.delay(1), backoff.delay(1)]).toEqual([1_000, 1_500]);
    expect(random).toHaveBeenCalledTimes(2);
  });

  it('is that of attempt 1 for an impossible attempt, and ignores fractions', () => {
    const backoff = linear('1s');
    expect([0, -1, 0.5].map((n) => backoff.delay(n))).toEqual([1_000, 1_000, 1_000]);
    expect(backoff.delay(1.5)).toBe(1_000);
    expect(backoff.delay(2.9)).toBe(2_000);
    expect(steps([1, 2, 3]).delay(0)).toBe(1);
    expect(steps([1, 2, 3]).delay(1.5)).toBe(1);
  });

  it('of 0 stays 0 for every attempt', () => {
    for (const n of [1, 2, 1_024, 1_026, 10_000]) {
      expect(exponential(0).delay(n)).toBe(0);
      expect(linear(0).delay(n)).toBe(0);
    }
  });

  it('is the maximum once the growth exceeds the number range', () => {
    expect(exponential('1s').delay(10_000)).toBe(LONGEST_DELAY);
    expect(exponential('1s', { max: '5m' }).delay(10_000)).toBe(300_000);
  });
});

describe('an invalid backoff', () => {
  it.each<[name: string, make: () => unknown, option: string, found: string]>([
    ['fixed', () => fixed('soon' as never), 'delay', "'soon'"],
    ['fixed with a negative delay', () => fixed(-1), 'delay', '-1'],
    ['linear', () => linear(Number.NaN), 'delay', 'NaN'],
    ['linear with an invalid max', () => linear('1s', { max: '50d' }), 'max', "'50d'"],
    ['exponential', () => exponential(Number.POSITIVE_INFINITY), 'delay', 'Infinity'],
    ['exponential with an invalid max', () => exponential('1s', { max: -5 }), 'max', '-5'],
    ['a factor below 1', () => exponential('1s', { factor: 0.9 }), 'factor', '0.9'],
    [
      'a factor that is not a number',
      () => exponential(1, { factor: Number.NaN }),
      'factor',
      'NaN',
    ],
    ['an infinite factor', () => exponential(1, { factor: 1 / 0 }), 'factor', 'Infinity'],
    ['no steps', () => steps([]), 'steps', '[]'],
    ['an invalid step among valid ones', () => steps(['1s', '2 s' as never]), 'step', "'2 s'"],
    ['jitter below 0', () => fixed('1s', { jitter: -0.1 }), 'jitter', '-0.1'],
    ['jitter above 1', () => linear('1s', { jitter: 1.1 }), 'jitter', '1.1'],
    ['jitter that is not a number', () => exponential(1, { jitter: Number.NaN }), 'jitter', 'NaN'],
    ['jitter of steps', () => steps(['1s'], { jitter: 20 }), 'jitter', '20'],
  ])(
    'throws a RangeError with the expected and the found value: %s',
    (_name, make, option, found) => {
      expect(make).toThrow(RangeError);
      expect(make).toThrow(`Backoff: ${option}: expected `);
      expect(make).toThrow(`found ${found}`);
    },
  );

  it('is detected on creation, and later changes of the list have no effect', () => {
    const list: `${number}s`[] = ['1s', '2s'];
    const backoff = steps(list);
    list.length = 0;
    expect(delays(backoff).slice(0, 3)).toEqual([1_000, 2_000, 2_000]);
  });
});

describe('backoffDeclarationOf', () => {
  it('returns the parameters of linear(), which RabbitMQ can carry out', () => {
    expect(backoffDeclarationOf(linear('5s', { max: '1m' }))).toEqual({
      text: 'linear(5s, max 1m)',
      jitter: 0,
      linear: { ms: 5_000, max: 60_000 },
    });
    expect(backoffDeclarationOf(linear('5s', { jitter: 0.1 }))).toMatchObject({
      jitter: 0.1,
      linear: { max: LONGEST_DELAY },
    });
  });

  it('returns no such parameters for other backoffs', () => {
    for (const backoff of [fixed(1), exponential(1), steps([1]), DEFAULT_BACKOFF]) {
      expect(backoffDeclarationOf(backoff)).not.toHaveProperty('backoffDeclarationOf');
    }
  });
});

it('every backoff is frozen', () => {
  for (const backoff of [fixed(1), linear(1), exponential(1), steps([1])]) {
    expect(Object.isFrozen(backoff)).toBe(true);
  }
});
