const PANIC = Symbol.for('nestjs-settle.panic');

/**
 * A bug that the code itself has found: what it is thrown from goes through `onPanic`, not `onError`.
 * @publicApi
 */
export class Panic extends Error {
  override readonly name: string = 'Panic';
  readonly [PANIC] = true;
}

/** Whether an error is a {@link Panic}, also one of another copy of this package. Never throws. */
export function isPanicError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  try {
    return (error as Partial<Panic>)[PANIC] === true;
  } catch {
    return false; // A proxy whose traps throw.
  }
}

/**
 * A handler ran longer than its subscription's `timeout`. The reason of `delivery.signal` then, and
 * what `onError` is asked about.
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
 * The channel that delivered the message is gone: nothing that the handler still does can settle the
 * delivery, and the broker hands the message out again. The reason of `delivery.signal` then.
 * @publicApi
 */
export class ChannelLostError extends Error {
  override readonly name: string = 'ChannelLostError';
}

/**
 * The service is stopping. The reason of `delivery.signal` shortly before `shutdownTimeout` ends, and
 * of the rejection of `started` where the application closes before every subscription consumed.
 * @publicApi
 */
export class ShutdownError extends Error {
  override readonly name: string = 'ShutdownError';
}

/**
 * The application can't start as it is declared. `errors` holds one error a fault; each names the
 * class and method, what was expected and what was found.
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
