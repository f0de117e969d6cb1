import { type Duration, LONGEST_DELAY, milliseconds } from '../outcome/duration';
import { messages } from '../outcome/messages';

/**
 * How long a message waits before its next attempt.
 * @publicApi
 */
export interface Backoff {
  /** The delay in ms after attempt `attempt` has failed; attempts count from 1 on. */
  delay(attempt: number): number;
}

/** `jitter` j, 0 to 1, default 0: each delay is multiplied by a random number in [1, 1 + j]. */
export interface JitterOptions {
  readonly jitter?: number;
}

/**
 * The same delay after each attempt.
 * @throws RangeError where the duration or the jitter can't be read.
 * @publicApi
 */
export function fixed(delay: Duration, options: JitterOptions = {}): Backoff {
  const ms = required(delay, 'delay');
  return backoff(() => ms, options);
}

/**
 * `delay` after attempt 1, twice that after attempt 2, and so on, at most `max` (default: 49 days).
 * @throws RangeError where a duration or the jitter can't be read.
 * @publicApi
 */
export function linear(
  delay: Duration,
  options: JitterOptions & { readonly max?: Duration } = {},
): Backoff & {
  readonly linear: { readonly ms: number; readonly max: number; readonly jitter: number };
} {
  const ms = required(delay, 'delay');
  const max = required(options.max ?? LONGEST_DELAY, 'max');
  const made = backoff((attempt) => Math.min(ms * attempt, max), options);
  return Object.freeze({ ...made, linear: { ms, max, jitter: options.jitter ?? 0 } });
}

/**
 * `delay` after attempt 1, then each time `factor` times as long, at most `max`.
 * @param options `factor`, at least 1, default 2; `max`, default 49 days; `jitter`, default 0.
 * @throws RangeError where a duration, the factor or the jitter can't be read.
 * @publicApi
 */
export function exponential(
  delay: Duration,
  options: JitterOptions & { readonly factor?: number; readonly max?: Duration } = {},
): Backoff {
  const ms = required(delay, 'delay');
  const max = required(options.max ?? LONGEST_DELAY, 'max');
  const factor = options.factor ?? 2;
  if (!(factor >= 1) || factor === Number.POSITIVE_INFINITY) {
    throw new RangeError(messages.backoff('factor', 'a finite number of 1 or more', factor));
  }
  // Where the growth leaves the range of numbers, 0 must stay 0.
  const growth = (attempt: number): number => Math.min(factor ** (attempt - 1), Number.MAX_VALUE);
  return backoff((attempt) => Math.min(ms * growth(attempt), max), options);
}

/**
 * The delays of a list, one after each attempt; the last one repeats.
 * @throws RangeError where the list is empty, or a duration or the jitter can't be read.
 * @publicApi
 */
export function steps(delays: readonly Duration[], options: JitterOptions = {}): Backoff {
  const list = delays.map((delay) => required(delay, 'step'));
  const last = list.at(-1);
  if (last === undefined) {
    throw new RangeError(messages.backoff('steps', 'at least one duration', delays));
  }
  return backoff((attempt) => list[attempt - 1] ?? last, options);
}

/** Exponential from 1 s to 5 min: what applies where a subscription declares no backoff. */
export const DEFAULT_BACKOFF: Backoff = exponential('1s', { max: '5m' });

function backoff(base: (attempt: number) => number, { jitter = 0 }: JitterOptions): Backoff {
  if (!(jitter >= 0 && jitter <= 1)) {
    throw new RangeError(messages.backoff('jitter', 'a number from 0 to 1', jitter));
  }
  const delay = (attempt: number): number => {
    const ms = base(Math.max(1, Math.floor(attempt))) * (1 + jitter * Math.random());
    return Math.min(Math.ceil(ms), LONGEST_DELAY);
  };
  return Object.freeze({ delay });
}

function required(value: Duration, what: string): number {
  const ms = milliseconds(value);
  if (ms === undefined) {
    throw new RangeError(messages.backoff(what, messages.durationExpected, value));
  }
  return ms;
}
