import { texts } from '../log/texts';
import type { BatchOptions, OrderOptions, RateOptions } from '../model/consumer-options';
import { milliseconds } from '../model/duration';
import type { OptionRow } from './option-table';
import { isPositiveDuration, isWhole } from './value-checks';

/** The options of `batch`. */
export const BATCH_OPTIONS: Readonly<Record<keyof BatchOptions, OptionRow>> = {
  size: {
    expected: 'a whole number from 1 to 65 535',
    byDefault: 'required',
    accepts: (value) => isWhole(value, 1, 65_535),
  },
  wait: {
    expected: `${texts.durationExpected}, longer than 0`,
    byDefault: "'200ms'",
    accepts: isPositiveDuration,
  },
  concurrency: {
    expected: 'a whole number from 1 to 65 535',
    byDefault: '1',
    accepts: (value) => isWhole(value, 1, 65_535),
  },
  isolateRetries: {
    expected: 'true or false',
    byDefault: 'true',
    accepts: (value) => typeof value === 'boolean',
  },
};

/** The options of `rate`. */
export const RATE_OPTIONS: Readonly<Record<keyof RateOptions, OptionRow>> = {
  limit: {
    expected: 'a whole number from 1 to 100 000',
    byDefault: 'required',
    accepts: (value) => isWhole(value, 1, 100_000),
  },
  per: {
    expected: `${texts.durationExpected}, longer than 0`,
    byDefault: 'required',
    accepts: isPositiveDuration,
  },
};

/** The options of `order`. */
export const ORDER_OPTIONS: Readonly<Record<keyof OrderOptions, OptionRow>> = {
  by: {
    expected: 'a function (delivery) => key',
    byDefault: 'required',
    accepts: (value) => typeof value === 'function',
  },
  hold: {
    expected: `${texts.durationExpected}, longer than 0`,
    byDefault: "'1m'",
    accepts: isPositiveDuration,
  },
  whenStuck: {
    expected: "'pause', 'deadLetter' or 'overtake'",
    byDefault: "'pause'",
    accepts: (value) => value === 'pause' || value === 'deadLetter' || value === 'overtake',
  },
  hotKeyAfter: {
    expected: `${texts.durationExpected}, or false`,
    byDefault: "'10s'",
    accepts: (value) => value === false || milliseconds(value) !== undefined,
  },
  instances: {
    expected: '1, or nothing',
    byDefault: 'any number',
    accepts: (value) => value === 1,
  },
};
