import { texts } from '../log/texts';
import { type Duration, milliseconds } from '../model/duration';
import type { DeliveryInterceptorOption } from '../model/interceptor';
import type { SubscribeDefaults } from '../model/options';
import type { IsPanic, SettleModuleOptions } from '../model/settle-options';
import type { OptionRow } from './option-table';

/** The options of the module with their defaults, durations in ms. */
export interface ResolvedSettleOptions {
  readonly defaults: SubscribeDefaults;
  readonly interceptors: readonly DeliveryInterceptorOption[];
  readonly isPanic: IsPanic | undefined;
  readonly shutdownTimeout: number;
  readonly abortGracePeriod: number;
  readonly republishTimeout: number;
  readonly onRefused: 'fail' | 'continue';
  readonly context: boolean;
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** One option of the module: its check and its default. */
type SettleOptionRow = Pick<OptionRow, 'expected' | 'byDefault'> & {
  readonly fallback?: unknown;
  accepts(value: unknown): boolean;
};

function duration(fallback: Duration): SettleOptionRow {
  return {
    expected: texts.durationExpected,
    byDefault: `'${fallback}'`,
    fallback,
    accepts: (value) => milliseconds(value) !== undefined,
  };
}

function callback(byDefault: string): SettleOptionRow {
  return { expected: 'a function', byDefault, accepts: isFunction };
}

/** The options of `SettleModule.forRoot`. */
export const SETTLE_OPTIONS: Readonly<Record<keyof SettleModuleOptions, SettleOptionRow>> = {
  defaults: { expected: 'an object', byDefault: '{}', fallback: {}, accepts: isObject },
  interceptors: {
    expected: 'a list of functions (delivery, next) => outcome and of injectable classes',
    byDefault: '[]',
    fallback: [],
    accepts: (value) => Array.isArray(value) && value.every(isFunction),
  },
  isPanic: callback('the classification of this library'),
  shutdownTimeout: duration('25s'),
  abortGracePeriod: duration('5s'),
  republishTimeout: duration('30s'),
  onRefused: {
    expected: "'fail' or 'continue'",
    byDefault: "'fail'",
    fallback: 'fail',
    accepts: (value) => value === 'fail' || value === 'continue',
  },
  context: {
    expected: 'true or false',
    byDefault: 'false',
    fallback: false,
    accepts: (value) => typeof value === 'boolean',
  },
  onFailFast: callback('the process exits with code 1'),
  structuredLogs: {
    expected: 'true or false',
    byDefault: 'false',
    fallback: false,
    accepts: (value) => typeof value === 'boolean',
  },
  logger: { expected: 'a logger', byDefault: "Nest's Logger", accepts: isObject },
};

/** The options with their defaults, and their faults, a line each. Never throws. */
export function resolveSettleOptions(options: SettleModuleOptions): {
  readonly resolved: ResolvedSettleOptions;
  readonly faults: readonly string[];
} {
  const faults: string[] = [];
  const valid: Record<string, unknown> = {};
  for (const [option, { fallback }] of Object.entries(SETTLE_OPTIONS)) valid[option] = fallback;
  for (const [option, value] of Object.entries(options)) {
    const row = Object.hasOwn(SETTLE_OPTIONS, option)
      ? SETTLE_OPTIONS[option as keyof SettleModuleOptions]
      : undefined;
    if (row === undefined) faults.push(texts.unknownModuleOption(option));
    else if (value === undefined) continue;
    else if (row.accepts(value)) valid[option] = value;
    else faults.push(texts.option('SettleModule', option, row.expected, value));
  }
  // Each value is a valid one or a fallback.
  const given = valid as Required<SettleModuleOptions>;
  const shutdownTimeout = milliseconds(given.shutdownTimeout) ?? 0;
  const resolved: ResolvedSettleOptions = {
    defaults: given.defaults,
    interceptors: given.interceptors,
    isPanic: given.isPanic,
    shutdownTimeout,
    abortGracePeriod: Math.min(milliseconds(given.abortGracePeriod) ?? 0, shutdownTimeout),
    republishTimeout: milliseconds(given.republishTimeout) ?? 0,
    onRefused: given.onRefused,
    context: given.context,
  };
  return { resolved, faults };
}
