import type { LoggerService } from '@nestjs/common';
import type { Delivery } from './delivery';
import type { Duration } from './duration';
import type { DeliveryInterceptorOption } from './interceptor';
import type { SubscribeDefaults } from './options';
import type { SubscriptionMetadata } from './subscription-metadata';

/** Whether an error is a bug; `undefined` leaves the answer to the library's own classification. */
export type IsPanic = (error: unknown) => boolean | undefined;

/**
 * The policy `'failFast'` has shut the application down.
 * @publicApi
 */
export interface FailFastEvent {
  readonly subscription: SubscriptionMetadata;
  /** Left unacknowledged: the broker redelivers it once its channel has closed. */
  readonly delivery: Delivery;
  readonly error: unknown;
}

/**
 * The options of `SettleModule.forRoot`.
 * @publicApi
 */
export interface SettleModuleOptions {
  /** Options of every subscription that does not set them itself. */
  readonly defaults?: SubscribeDefaults;
  /**
   * Around every handler, outermost first: functions, or classes that Nest resolves from the container.
   * They see outcomes; an error that one throws is handled as if the handler had thrown it. In a batch they
   * surround each message.
   * @default []
   * @example [timed, AuditInterceptor]
   */
  readonly interceptors?: readonly DeliveryInterceptorOption[];
  /**
   * Whether an error is a bug (`onPanic`) or not (`onError`); `undefined` leaves it to the library.
   * @example (error) => (error instanceof InvariantViolation ? true : undefined)
   */
  readonly isPanic?: IsPanic;
  /**
   * How long running handlers may take to finish when the application closes.
   * @default '25s'
   */
  readonly shutdownTimeout?: Duration;
  /**
   * How long before `shutdownTimeout` expires the signals of running deliveries abort.
   * @default '5s'
   */
  readonly abortGracePeriod?: Duration;
  /**
   * How long publishing one message for a retry or a dead letter is tried, all tries together.
   * @default '30s'
   */
  readonly republishTimeout?: Duration;
  /**
   * What a subscription that RabbitMQ refuses means at startup: `'fail'` rejects `app.init()`,
   * `'continue'` starts the others and keeps trying.
   * @default 'fail'
   */
  readonly onRefused?: 'fail' | 'continue';
  /**
   * Whether `currentDelivery()` gives the delivery that is being handled. It costs every message an
   * asynchronous context.
   * @default false
   * @example true
   */
  readonly context?: boolean;
  /**
   * Called once, after running handlers have finished, when the policy `'failFast'` has shut the
   * application down. By default the application is closed with its shutdown hooks, enabled or not, and the
   * process, or the worker thread, exits with code 1.
   */
  readonly onFailFast?: (event: FailFastEvent) => void | Promise<void>;
  /**
   * Where log lines go.
   * @default Nest's Logger
   */
  readonly logger?: LoggerService;
  /**
   * Whether log lines are objects instead of texts, for a logger that writes JSON: `message` with the text,
   * `kind`, and where they are known `handler`, `queue`, `messageId`, `attempt`, `attempts`, `decision`,
   * `reason`, `errorName` and `errorMessage`.
   * @default false
   * @example true
   */
  readonly structuredLogs?: boolean;
}
