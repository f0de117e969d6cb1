import { durationText } from '../log/format';
import { texts } from '../log/texts';
import { type Duration, LONGEST_DELAY, milliseconds } from './duration';

/**
 * How long a message waits before its next attempt.
 * @publicApi
 */
export interface Backoff {
  /** The delay in ms after attempt `attempt` has failed; attempts count from 1 on. */
  delay(attempt: number): number;
}

/** Options of all backoffs. */
export interface JitterOptions {
  /**
   * From 0 to 1: each delay is multiplied by a random number in [1, 1 + jitter], so it is never shorter.
   * @default 0
   */
  readonly jitter?: number;
}

/** Options of backoffs that grow. */
export interface GrowthOptions extends JitterOptions {
  /**
   * The longest delay.
   * @default '49d'
   */
  readonly max?: Duration;
}

// Registered, so that backoffs of another copy of this package are recognised.
const DECLARATION = Symbol.for('nestjs-settle.backoff');

/** How one of this library's backoffs was declared. */
export interface BackoffDeclaration {
  /** As it is written in code: `exponential(1s, max 5m)`. */
  readonly text: string;
  readonly jitter: number;
  /** The parameters of `linear()`, which RabbitMQ's own delayed retry can carry out. */
  readonly linear?: { readonly ms: number; readonly max: number };
}

/** How a backoff was declared; `undefined` for one of the application's own. */
export function backoffDeclarationOf(backoff: unknown): BackoffDeclaration | undefined {
  if (typeof backoff !== 'object' || backoff === null) return undefined;
  return (backoff as { readonly [DECLARATION]?: BackoffDeclaration })[DECLARATION];
}

/** A backoff as log lines show it. */
export function backoffText(backoff: Backoff): string {
  return backoffDeclarationOf(backoff)?.text ?? 'custom';
}

/**
 * The same delay after each attempt.
 * @example fixed('10s')
 * @throws RangeError if the duration or the jitter is invalid.
 * @publicApi
 */
export function fixed(delay: Duration, options: JitterOptions = {}): Backoff {
  const ms = required(delay, 'delay');
  return backoff(() => ms, options, { text: call('fixed', [durationText(ms)]) });
}

/**
 * `delay` after attempt 1, twice that after attempt 2, and so on, at most `max`.
 * @example linear('5s', { max: '1m' })
 * @throws RangeError if a duration or the jitter is invalid.
 * @publicApi
 */
export function linear(delay: Duration, options: GrowthOptions = {}): Backoff {
  const ms = required(delay, 'delay');
  const max = required(options.max ?? LONGEST_DELAY, 'max');
  return backoff((attempt) => Math.min(ms * attempt, max), options, {
    text: call('linear', [durationText(ms), ...maxText(options)]),
    linear: { ms, max },
  });
}

/**
 * `delay` after attempt 1, then each time `factor` times as long, at most `max`.
 * @param options `factor`, at least 1, default 2.
 * @example exponential('1s', { max: '5m', jitter: 0.2 })
 * @throws RangeError if a duration, the factor or the jitter is invalid.
 * @publicApi
 */
export function exponential(
  delay: Duration,
  options: GrowthOptions & { readonly factor?: number } = {},
): Backoff {
  const ms = required(delay, 'delay');
  const max = required(options.max ?? LONGEST_DELAY, 'max');
  const factor = options.factor ?? 2;
  if (!(factor >= 1) || factor === Number.POSITIVE_INFINITY) {
    throw new RangeError(texts.backoff('factor', 'a finite number of at least 1', factor));
  }
  // Where the growth leaves the range of numbers, 0 must stay 0.
  const growth = (attempt: number): number => Math.min(factor ** (attempt - 1), Number.MAX_VALUE);
  const factorText = factor === 2 ? [] : [`factor ${factor}`];
  return backoff((attempt) => Math.min(ms * growth(attempt), max), options, {
    text: call('exponential', [durationText(ms), ...factorText, ...maxText(options)]),
  });
}

/**
 * The delays of a list, one after each attempt; the last one repeats.
 * @example steps(['1s', '10s', '1m'])
 * @throws RangeError if the list is empty, or a duration or the jitter is invalid.
 * @publicApi
 */
export function steps(delays: readonly Duration[], options: JitterOptions = {}): Backoff {
  const list = delays.map((delay) => required(delay, 'step'));
  const last = list.at(-1);
  if (last === undefined) {
    throw new RangeError(texts.backoff('steps', 'at least one duration', delays));
  }
  return backoff((attempt) => list[attempt - 1] ?? last, options, {
    text: call('steps', list.map(durationText)),
  });
}

/** Exponential from 1 s to 5 min: what applies if a subscription declares no backoff. */
export const DEFAULT_BACKOFF: Backoff = exponential('1s', { max: '5m' });

function backoff(
  base: (attempt: number) => number,
  { jitter = 0 }: JitterOptions,
  { text, linear }: Pick<BackoffDeclaration, 'text' | 'linear'>,
): Backoff {
  if (!(jitter >= 0 && jitter <= 1)) {
    throw new RangeError(texts.backoff('jitter', 'a number from 0 to 1', jitter));
  }
  const delay = (attempt: number): number => {
    const ms = base(Math.max(1, Math.floor(attempt))) * (1 + jitter * Math.random());
    return Math.min(Math.ceil(ms), LONGEST_DELAY);
  };
  const shown = jitter === 0 ? text : `${text.slice(0, -1)}, jitter ${jitter})`;
  const declaration: BackoffDeclaration = { text: shown, jitter, ...(linear && { linear }) };
  return Object.freeze({ delay, [DECLARATION]: declaration });
}

function call(name: string, parameters: readonly string[]): string {
  return `${name}(${parameters.join(', ')})`;
}

function maxText({ max }: GrowthOptions): string[] {
  return max === undefined ? [] : [`max ${durationText(required(max, 'max'))}`];
}

function required(value: Duration, what: string): number {
  const ms = milliseconds(value);
  if (ms === undefined) throw new RangeError(texts.backoff(what, texts.durationExpected, value));
  return ms;
}
