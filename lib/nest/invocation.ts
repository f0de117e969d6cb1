import { isObservable, tap } from 'rxjs';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { texts } from '../log/texts';
import { isOutcome } from '../model/outcome';
import { isThenable } from '../model/thenable';
import { isNack } from '../pipeline/call';
import { HandlerFailure } from '../pipeline/handler-failure';
import { type Enhancers, enhancerNameFor, pipeNameFor } from './enhancers';

/** The record of one call of a handler through Nest's enhancers. */
export interface Invocation {
  /** The one whose method is called. */
  readonly instance: object;
  /** Whether the handler has started. */
  entered: boolean;
  /** What the handler returned, if it did; of an Observable the last value. */
  returned?: { readonly value: unknown };
  threw?: { readonly error: unknown };
  /** What a pipe threw; the handler has not started then. */
  refused?: { readonly error: unknown };
  /** What guards, pipes, interceptors and the handler threw, before filters saw it. */
  raised?: { readonly error: unknown };
}

/** Runs the handler and records its result, which the interceptors receive unchanged. */
export function runBody(invocation: Invocation, body: () => unknown): unknown {
  const threw = (error: unknown): never => {
    invocation.threw = { error };
    throw error;
  };
  const returned = <T>(value: T): T => {
    invocation.returned = { value };
    return value;
  };
  invocation.entered = true;
  let result: unknown;
  try {
    result = body();
  } catch (error) {
    return threw(error);
  }
  if (isObservable(result)) return noted(result, invocation);
  if (!isThenable(result)) return returned(result);
  return Promise.resolve(result).then(
    (value) => (isObservable(value) ? noted(value, invocation) : returned(value)),
    threw,
  );
}

function noted(values: Parameters<typeof isObservable>[0], invocation: Invocation): unknown {
  let last: unknown;
  return (values as import('rxjs').Observable<unknown>).pipe(
    tap({
      next: (value) => {
        last = value;
      },
      error: (error: unknown) => {
        invocation.threw = { error };
      },
      complete: () => {
        invocation.returned = { value: last };
      },
    }),
  );
}

/**
 * The result of a call that ended with a value. An outcome counts, whatever returned it. Any other value of a
 * filter never turns an error into an acknowledgement, and an interceptor that wraps the result in an
 * envelope does not hide what the handler returned.
 */
export function resultOf(invocation: Invocation, value: unknown, enhancers: Enhancers): unknown {
  if (isOutcome(value) || isNack(value)) return value;
  const { raised, returned, threw } = invocation;
  if (raised !== undefined) throw swallowed(invocation, raised.error, enhancers);
  if (returned !== undefined) return returned.value;
  if (threw !== undefined && isOutcome(threw.error)) return threw.error;
  return value;
}

function swallowed(invocation: Invocation, error: unknown, enhancers: Enhancers): unknown {
  const failure = toFailure(invocation, error, enhancers);
  if (!(failure instanceof HandlerFailure)) return failure;
  const filter = texts.oneOf(enhancers.filters);
  return new HandlerFailure(failure.origin, failure.error, failure.enhancer, filter);
}

/** The failure of a call that ended with an error, or the outcome that was thrown. */
export function toFailure(invocation: Invocation, error: unknown, enhancers: Enhancers): unknown {
  const { threw, refused, raised, entered } = invocation;
  // An outcome that the handler threw counts, whatever an enhancer threw in its place.
  const outcome = [error, threw?.error, raised?.error].find(isOutcome);
  if (outcome !== undefined) return outcome;
  if (threw !== undefined && threw.error === error) return new HandlerFailure('body', error);
  const isFromPipe = refused !== undefined && refused.error === error;
  const name = isFromPipe
    ? pipeNameFor(error, enhancers)
    : enhancerNameFor(error, enhancers, entered);
  const earlier = earlierThan(error, invocation);
  return new HandlerFailure(isFromPipe ? 'pipe' : 'enhancer', error, { entered, name, earlier });
}

// What was thrown before an interceptor or a filter threw something else instead.
function earlierThan(error: unknown, invocation: Invocation): readonly HandlerFailure[] {
  const { threw, refused, raised, returned, entered } = invocation;
  const earlier: HandlerFailure[] = [];
  if (threw !== undefined && returned === undefined) {
    earlier.push(new HandlerFailure('body', threw.error));
  }
  const unnamed = { entered, name: '' };
  if (refused !== undefined) earlier.push(new HandlerFailure('pipe', refused.error, unnamed));
  if (raised !== undefined) earlier.push(new HandlerFailure('enhancer', raised.error, unnamed));
  return earlier.filter((one) => one.error !== error);
}

/** Whether an error only means that an interceptor emitted no value. */
export function isEmptyResult({ threw }: Invocation, error: unknown): boolean {
  return threw === undefined && error instanceof Error && error.name === 'EmptyError';
}

/** The arguments of a call, in the order in which guards and interceptors see them. */
export type CallArguments = readonly [
  payload: unknown,
  message: DeliveryRecord['message'],
  headers: DeliveryRecord['headers'],
  delivery: DeliveryRecord,
  invocation: Invocation,
];
