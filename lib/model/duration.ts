import { texts } from '../log/texts';

/**
 * A span of time: a number of milliseconds, or a text such as `'250ms'`, `'30s'`, `'5m'`, `'2h'`, `'1d'`.
 * @publicApi
 */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** No duration needs more characters; a text can come from anywhere. */
const LONGEST_TEXT = 40;

/** The longest valid delay, 49 days: the TTL of a queue is an unsigned number of 32 bits, 49 days and 17 hours. */
export const LONGEST_DELAY = 49 * 86_400_000;

/**
 * The number of milliseconds of a duration, a fraction rounded up; `undefined` if the value is not a
 * duration, negative, not finite, or longer than {@link LONGEST_DELAY}.
 */
export function milliseconds(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? millisecondsOfText(value) : value;
  if (typeof ms !== 'number' || !(ms >= 0) || ms > LONGEST_DELAY) return undefined;
  return Math.ceil(ms);
}

function millisecondsOfText(text: string): number | undefined {
  if (text.length > LONGEST_TEXT) return undefined;
  // Every amount that the type allows: TypeScript reads `${number}` as JavaScript's Number() does.
  const [, amount = '', unit = ''] = /^(\S+?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return factor === undefined ? undefined : preciseProduct(Number(amount), factor);
}

// 1.1 * 1 000 is 1100.0000000000002, which rounding up would turn into 1 101.
function preciseProduct(amount: number, factor: number): number {
  return Number((amount * factor).toPrecision(15));
}

/**
 * The number of milliseconds of a duration in a text of unknown content, such as an environment variable.
 * @example parseDuration(config.getOrThrow('SHUTDOWN_TIMEOUT')) // '25s' -> 25000
 * @throws RangeError if the text is not a duration.
 * @publicApi
 */
export function parseDuration(text: string): number {
  const ms = milliseconds(text);
  if (ms === undefined) throw new RangeError(texts.durationInvalid(text));
  return ms;
}
