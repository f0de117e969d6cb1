import { describe, expect, it } from 'vitest';
import { exactDelaysOf, waitingDelayOf } from '../../../lib/delivery/waiting-delay';
import {
  type Backoff,
  DEFAULT_BACKOFF,
  exponential,
  fixed,
  linear,
  steps,
} from '../../../lib/model/backoff';
import { aSubscription } from '../fixtures';

function subscriptionOf(backoff: Backoff, attempts: number) {
  return aSubscription({ retry: { attempts, backoff } });
}

describe('the delays that are known in advance', () => {
  it.each<[string, Backoff, number, readonly number[]]>([
    ['fixed', fixed('7s'), 10, [7_000]],
    ['linear', linear('7s'), 4, [7_000, 14_000, 21_000]],
    ['linear up to a maximum', linear('7s', { max: '10s' }), 9, [7_000, 10_000]],
    ['exponential', exponential('7s', { factor: 3 }), 3, [7_000, 21_000]],
    ['steps', steps(['7s', '3s', '7s', '1m']), 10, [7_000, 3_000, 60_000]],
    ['steps with a 0', steps([0, '7s']), 10, [7_000]],
    ['a single attempt', fixed('7s'), 1, []],
    ['jitter', fixed('7s', { jitter: 0.1 }), 10, []],
    ['another implementation', { delay: () => 7_000 }, 10, []],
  ])('%s', (_name, backoff, attempts, expected) => {
    expect([...exactDelaysOf(subscriptionOf(backoff, attempts))]).toEqual(expected);
  });

  it('are those of the default backoff without retry', () => {
    const delays = [...exactDelaysOf(aSubscription())];
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300].map((s) => s * 1_000));
    expect(delays[2]).toBe(DEFAULT_BACKOFF.delay(3));
  });

  it('are the first 64', () => {
    const delays = [...exactDelaysOf(subscriptionOf(linear('7s'), 10_000))];
    expect(delays).toHaveLength(64);
    expect(delays.at(-1)).toBe(64 * 7_000);
  });
});

describe('how long a message waits', () => {
  const subscription = subscriptionOf(linear('7s'), 100);

  it.each([
    ['a delay of the backoff', 7_000, 7_000],
    ['a delay that a handler gives and the backoff has', 14_000, 14_000],
    ['a round delay', 15_000, 15_000],
    ['any other delay', 14_001, 14_336],
    ['a delay beyond the first 64 of the backoff', 65 * 7_000, 458_752],
    ['a fraction', 6_999.5, 7_000],
  ])('%s', (_name, ms, expected) => {
    expect(waitingDelayOf(subscription, ms)).toBe(expected);
  });
});
