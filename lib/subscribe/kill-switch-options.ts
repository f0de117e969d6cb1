import { texts } from '../log/texts';
import { milliseconds } from '../model/duration';
import type { KillSwitchOptions } from '../model/kill-switch-options';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { OptionRow } from './option-table';
import { isMatch, isPositiveDuration, isWhole } from './value-checks';

const DURATION = {
  expected: `${texts.durationExpected}, longer than 0`,
  accepts: isPositiveDuration,
} as const;

/** The options of `killSwitch`. */
export const KILL_SWITCH_OPTIONS: Readonly<Record<keyof KillSwitchOptions, OptionRow>> = {
  failures: {
    expected: 'a number above 0, at most 1',
    byDefault: '0.5',
    accepts: (value) => typeof value === 'number' && value > 0 && value <= 1,
  },
  minimum: {
    expected: 'a whole number from 1 to 100 000',
    byDefault: '10',
    accepts: (value) => isWhole(value, 1, 100_000),
  },
  window: { ...DURATION, byDefault: "'1m'" },
  pause: { ...DURATION, byDefault: "'30s'" },
  max: { ...DURATION, byDefault: "'10m'" },
  on: {
    expected: 'a class, a list of classes or a predicate',
    byDefault: 'every error but those that a rule drops or skips',
    accepts: isMatch,
  },
};

/** `killSwitch` with its defaults, durations in ms. */
export function killSwitchOf(
  given: KillSwitchOptions | false | undefined,
): SubscriptionMetadata['killSwitch'] {
  if (given === undefined || given === false) return undefined;
  const { failures = 0.5, minimum = 10, window = '1m', pause = '30s', max = '10m', on } = given;
  const ms = (value: unknown): number => milliseconds(value) ?? 0;
  return Object.freeze({
    failures,
    minimum,
    window: ms(window),
    pause: ms(pause),
    max: Math.max(ms(pause), ms(max)),
    on,
  });
}
