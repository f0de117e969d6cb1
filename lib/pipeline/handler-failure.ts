/**
 * Where a failure comes from: the decoder, the schema, one of Nest's pipes, its guards, interceptors and filters, the
 * handler's own body, the time limit, one of the module's interceptors, or that no method takes the message.
 */
export type Origin =
  | 'decode'
  | 'schema'
  | 'pipe'
  | 'enhancer'
  | 'body'
  | 'timeout'
  | 'interceptor'
  | 'unmatched';

/** What is known of a failure of Nest's guards, pipes, interceptors and filters. */
export interface EnhancerFailure {
  /** Whether the handler had started. */
  readonly entered: boolean;
  /** The one that threw, or those that can have. */
  readonly name: string;
  /** What failed before, in the place of which this was thrown. */
  readonly earlier?: readonly HandlerFailure[];
}

/** A failure on its way to becoming an outcome. */
export class HandlerFailure {
  // `in` with a private name runs no traps of a proxy that a handler threw; `instanceof` would.
  readonly #own = true;

  constructor(
    readonly origin: Origin,
    /** What was thrown, untouched. */
    readonly error: unknown,
    readonly enhancer?: EnhancerFailure,
    /** The exception filter that returned a value for the error which is not an outcome. */
    readonly swallowedBy?: string,
  ) {}

  /** A failure of what was thrown, with `origin` unless it is one already. */
  static from(thrown: unknown, origin: Origin): HandlerFailure {
    const isFailed = typeof thrown === 'object' && thrown !== null && #own in thrown;
    return isFailed ? thrown : new HandlerFailure(origin, thrown);
  }
}
