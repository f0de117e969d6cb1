import type { LoggerService } from '@nestjs/common';
import { type Duration, milliseconds } from '../outcome/duration';
import { messages } from '../outcome/messages';
import type { IsPanic } from '../pipeline/classification';
import type { Interceptor } from '../pipeline/interceptor';
import type { SubscribeDefaults } from '../subscription/options';
import type { FailFastEvent } from './fail-fast';

/**
 * The options of the module.
 * @publicApi
 */
export interface SettleModuleOptions {
  /** What holds for every subscription that does not say otherwise. */
  readonly defaults?: SubscribeDefaults;
  /** Around every handler, outermost first. They see outcomes; a throw of theirs is an error under `onError`. */
  readonly interceptors?: readonly Interceptor[];
  /** Answers whether an error is a bug; `undefined` leaves it to the module's own table. */
  readonly isPanic?: IsPanic;
  /** How long begun handlers may take to finish when the application closes; default 25 s. */
  readonly shutdownTimeout?: Duration;
  /** How long before the end of `shutdownTimeout` the signals of deliveries abort; default 5 s. */
  readonly abortBefore?: Duration;
  /** How long a copy is tried, all tries together; default 30 s. */
  readonly copyTimeout?: Duration;
  /**
   * What a subscription that the broker refuses means for the start: `'fail'` rejects `app.init()`,
   * `'continue'` goes on with the others and keeps trying. Default `'fail'`.
   */
  readonly onRefused?: 'fail' | 'continue';
  /**
   * Called once, after the drain, when a failure policy has stopped the service. Default: the process
   * leaves with a non-zero exit code, through the shutdown hooks where they are enabled.
   */
  readonly onFailFast?: (event: FailFastEvent) => void | Promise<void>;
  /** Default: Nest's logger. */
  readonly logger?: LoggerService;
}

/** The module's options with their defaults, durations in ms. */
export interface SettleTerms {
  readonly defaults: SubscribeDefaults;
  readonly interceptors: readonly Interceptor[];
  readonly isPanic: IsPanic | undefined;
  readonly shutdownTimeout: number;
  readonly abortBefore: number;
  readonly copyTimeout: number;
  readonly onRefused: 'fail' | 'continue';
}

const TIMES = { shutdownTimeout: 25_000, abortBefore: 5_000, copyTimeout: 30_000 } as const;

const KNOWN: ReadonlySet<string> = new Set<keyof SettleModuleOptions>([
  'defaults',
  'interceptors',
  'isPanic',
  'shutdownTimeout',
  'abortBefore',
  'copyTimeout',
  'onRefused',
  'onFailFast',
  'logger',
]);

/** The terms that options mean, and what is wrong with them, a line each. */
export function settleTermsOf(options: SettleModuleOptions): {
  readonly terms: SettleTerms;
  readonly faults: readonly string[];
} {
  const faults = Object.keys(options)
    .filter((option) => !KNOWN.has(option))
    .map((option) => messages.unknownModuleOption(option));
  const expect = (holds: boolean, option: string, expected: string, value: unknown): void => {
    if (!holds) faults.push(messages.option('SettleModule', option, expected, value));
  };
  const time = (name: keyof typeof TIMES): number => {
    const value = options[name];
    if (value === undefined) return TIMES[name];
    const ms = milliseconds(value);
    expect(ms !== undefined, name, messages.durationExpected, value);
    return ms ?? TIMES[name];
  };
  const { interceptors = [], isPanic, onRefused = 'fail', onFailFast } = options;
  const isFunction = (value: unknown): boolean => typeof value === 'function';
  const isList = Array.isArray(interceptors) && interceptors.every(isFunction);
  expect(isList, 'interceptors', 'a list of functions (delivery, next) => outcome', interceptors);
  expect(isPanic === undefined || isFunction(isPanic), 'isPanic', 'a function', isPanic);
  const isOnFailFast = onFailFast === undefined || isFunction(onFailFast);
  expect(isOnFailFast, 'onFailFast', 'a function', onFailFast);
  const isOnRefused = onRefused === 'fail' || onRefused === 'continue';
  expect(isOnRefused, 'onRefused', "'fail' or 'continue'", onRefused);
  const shutdownTimeout = time('shutdownTimeout');
  const terms: SettleTerms = {
    defaults: options.defaults ?? {},
    interceptors,
    isPanic,
    shutdownTimeout,
    abortBefore: Math.min(time('abortBefore'), shutdownTimeout),
    copyTimeout: time('copyTimeout'),
    onRefused,
  };
  return { terms, faults };
}
