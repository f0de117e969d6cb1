/**
 * Where a failure comes from: the decoder, Nest's guards, pipes, interceptors and filters, the handler's
 * own body, the time limit, or one of the module's interceptors.
 */
export type Origin = 'decode' | 'enhancer' | 'body' | 'timeout' | 'interceptor';

/** What has failed, on its way to becoming an outcome. */
export class HandlerFailure {
  // `in` asks no proxy for it; `instanceof` would run the traps of what a handler threw.
  readonly #own = true;

  constructor(
    readonly origin: Origin,
    /** What was thrown, untouched. */
    readonly error: unknown,
    /**
     * Of an enhancer's failure: whether the body had begun, who may have raised it, and what the body
     * itself threw before an enhancer made this of it.
     */
    readonly enhancer?: {
      readonly entered: boolean;
      readonly name: string;
      readonly body?: { readonly error: unknown };
    },
  ) {}

  /** What was thrown, with its origin where none is known yet. */
  static from(thrown: unknown, origin: Origin): HandlerFailure {
    const isFailed = typeof thrown === 'object' && thrown !== null && #own in thrown;
    return isFailed ? thrown : new HandlerFailure(origin, thrown);
  }
}
