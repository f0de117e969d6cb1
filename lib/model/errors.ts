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
