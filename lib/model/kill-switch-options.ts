import type { Duration } from './duration';
import type { ErrorMatch } from './policy';

/**
 * When a subscription stops handling messages because too many of them fail, and how it begins again.
 * @example { failures: 0.5, minimum: 10, window: '1m', pause: '30s', max: '10m' }
 * @publicApi
 */
export interface KillSwitchOptions {
  /**
   * The share of attempts that have to fail, above 0 and at most 1.
   * @default 0.5
   */
  readonly failures?: number;
  /**
   * How many attempts the window has to hold, 1 to 100 000.
   * @default 10
   */
  readonly minimum?: number;
  /**
   * The time over which attempts are counted.
   * @default '1m'
   */
  readonly window?: Duration;
  /**
   * How long the subscription pauses before it tries one message.
   * @default '30s'
   */
  readonly pause?: Duration;
  /**
   * The longest pause: each message that is tried and fails doubles it, up to this.
   * @default '10m', or the pause if that is longer
   */
  readonly max?: Duration;
  /**
   * The errors that count: a class, classes or a predicate, as in `on()`.
   * @default every error and timeout of the handler but those that a rule of `onError` drops or skips
   * @example [BankTimeout, NetworkError]
   */
  readonly on?: ErrorMatch;
}
