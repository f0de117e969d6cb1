const PANIC = Symbol.for('nestjs-settle.panic');

/**
 * A bug that the application itself detects: a handler that throws it fails with `onPanic`, not `onError`.
 * @publicApi
 */
export class Panic extends Error {
  override readonly name: string = 'Panic';
  readonly [PANIC] = true;
}

/** Whether an error is a {@link Panic}, of this or another copy of this package. Never throws. */
export function isPanicError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  try {
    return (error as Partial<Panic>)[PANIC] === true;
  } catch {
    return false; // A proxy whose traps throw.
  }
}

/**
 * A handler exceeded its subscription's `timeout`. The reason of `delivery.signal`, and the error that
 * `onError` applies to.
 * @publicApi
 */
export class HandlerTimeoutError extends Error {
  override readonly name: string = 'HandlerTimeoutError';
  /** The limit, in ms. */
  readonly timeout: number;

  constructor(message: string, timeout: number) {
    super(message);
    this.timeout = timeout;
  }
}

/**
 * The channel that delivered the message has closed: the message can no longer be acknowledged and will be
 * redelivered. The reason of `delivery.signal`.
 * @publicApi
 */
export class ChannelLostError extends Error {
  override readonly name: string = 'ChannelLostError';
}

/**
 * The application is shutting down. The reason of `delivery.signal` shortly before `shutdownTimeout`
 * expires, and of `started` if the application closes before every subscription has consumed.
 * @publicApi
 */
export class ShutdownError extends Error {
  override readonly name: string = 'ShutdownError';
}

/**
 * No method of a queue matches a message by its `when`. The error that `onUnmatched` applies to.
 * @publicApi
 */
export class UnmatchedMessageError extends Error {
  override readonly name: string = 'UnmatchedMessageError';
}

/**
 * The application can't start as it is configured. `errors` holds one error per fault; each names the class
 * and method, what was expected and what was found.
 * @publicApi
 */
export class SettleStartupError extends AggregateError {
  override readonly name: string = 'SettleStartupError';

  constructor(faults: readonly string[]) {
    super(
      faults.map((fault) => new Error(fault)),
      faults.length === 1 ? faults[0] : [`${faults.length} faults:`, ...faults].join('\n- '),
    );
  }
}

/**
 * Whose failure a failed republish is:
 * - `message`: RabbitMQ or the AMQP client refuses this message, whatever is left out of it;
 * - `target`: the queue is missing, cannot be declared, or may not be declared;
 * - `broker`: anything else: the queue is full, the connection is blocked or lost, the user may not publish.
 * @publicApi
 */
export type RepublishFailureScope = 'message' | 'target' | 'broker';

/**
 * A message could not be republished. The message says why, in RabbitMQ's own words if it replied; the
 * `cause` is the error of the AMQP client, if there is one.
 * @publicApi
 */
export class RepublishError extends Error {
  override readonly name: string = 'RepublishError';
  readonly scope: RepublishFailureScope;
  /** RabbitMQ's reply code; absent if it did not reply. */
  readonly replyCode?: number;
  /**
   * Whether the message was written and neither confirmed, returned nor refused: it may be in its queue
   * all the same, and then runs twice.
   */
  readonly mayHaveArrived: boolean;

  constructor(
    message: string,
    details: {
      readonly scope: RepublishFailureScope;
      readonly replyCode?: number | undefined;
      readonly mayHaveArrived?: boolean;
      readonly cause?: unknown;
    },
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.scope = details.scope;
    this.mayHaveArrived = details.mayHaveArrived ?? false;
    if (details.replyCode !== undefined) this.replyCode = details.replyCode;
  }
}
