import { texts } from '../log/texts';
import { milliseconds } from '../model/duration';
import type { DeliveryInterceptorOption } from '../model/interceptor';
import type { SubscribeDefaults } from '../model/options';
import type { IsPanic, SettleModuleOptions } from '../model/settle-options';

/** The options of the module with their defaults, durations in ms. */
export interface ResolvedSettleOptions {
  readonly defaults: SubscribeDefaults;
  readonly interceptors: readonly DeliveryInterceptorOption[];
  readonly isPanic: IsPanic | undefined;
  readonly shutdownTimeout: number;
  readonly abortGracePeriod: number;
  readonly republishTimeout: number;
  readonly onRefused: 'fail' | 'continue';
}

/** One option of the module: what it may be. */
interface OptionRow {
  readonly expected: string;
  accepts(value: unknown): boolean;
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

const DURATION: OptionRow = {
  expected: texts.durationExpected,
  accepts: (value) => milliseconds(value) !== undefined,
};
const FUNCTION: OptionRow = { expected: 'a function', accepts: isFunction };

const OPTIONS: Readonly<Record<keyof SettleModuleOptions, OptionRow>> = {
  defaults: { expected: 'an object', accepts: isObject },
  interceptors: {
    expected: 'a list of functions (delivery, next) => outcome and of injectable classes',
    accepts: (value) => Array.isArray(value) && value.every(isFunction),
  },
  isPanic: FUNCTION,
  shutdownTimeout: DURATION,
  abortGracePeriod: DURATION,
  republishTimeout: DURATION,
  onRefused: {
    expected: "'fail' or 'continue'",
    accepts: (value) => value === 'fail' || value === 'continue',
  },
  onFailFast: FUNCTION,
  logger: { expected: 'a logger', accepts: isObject },
};

/** The options with their defaults, and their faults, a line each. Never throws. */
export function resolveSettleOptions(options: SettleModuleOptions): {
  readonly resolved: ResolvedSettleOptions;
  readonly faults: readonly string[];
} {
  const faults: string[] = [];
  const valid: Partial<Record<string, unknown>> = {};
  for (const [option, value] of Object.entries(options)) {
    const row = Object.hasOwn(OPTIONS, option)
      ? OPTIONS[option as keyof SettleModuleOptions]
      : undefined;
    if (row === undefined) faults.push(texts.unknownModuleOption(option));
    else if (value === undefined || row.accepts(value)) valid[option] = value;
    else faults.push(texts.option('SettleModule', option, row.expected, value));
  }
  const given = valid as SettleModuleOptions;
  const shutdownTimeout = milliseconds(given.shutdownTimeout ?? '25s') ?? 0;
  const abortGracePeriod = milliseconds(given.abortGracePeriod ?? '5s') ?? 0;
  const resolved: ResolvedSettleOptions = {
    defaults: given.defaults ?? {},
    interceptors: given.interceptors ?? [],
    isPanic: given.isPanic,
    shutdownTimeout,
    abortGracePeriod: Math.min(abortGracePeriod, shutdownTimeout),
    republishTimeout: milliseconds(given.republishTimeout ?? '30s') ?? 0,
    onRefused: given.onRefused ?? 'fail',
  };
  return { resolved, faults };
}
