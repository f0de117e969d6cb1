import { performance } from 'node:perf_hooks';
import timers from 'node:timers';

/** A pending call of a clock. */
export interface Timer {
  /** Forgets the call; does nothing once it has been made. */
  cancel(): void;
}

/**
 * The one source of time and timers. Everything in this library that waits, measures or defers does so
 * through a clock, so that a test can supply one that it moves itself.
 */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds on a scale that never goes back; only differences mean anything. */
  monotonic(): number;
  /** Calls `work` no sooner than after `ms` milliseconds; any finite number is allowed. */
  after(ms: number, work: () => void, options?: { readonly background?: boolean }): Timer;
  /** Calls `work` once the present turn of the event loop and its microtasks have ended. */
  nextTurn(work: () => void): void;
}

// Taken once at load: fake timers that a test installs later neither stop the acknowledgements nor
// move this clock. Taken from Node's modules: Jest can have replaced the globals before.
const { setTimeout, clearTimeout, setImmediate } = timers;
const epoch = Date.now;
const monotonic = performance.now.bind(performance);

/** The longest delay of Node's timers; a longer one would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

class SystemTimer implements Timer {
  #handle: NodeJS.Timeout | undefined;

  constructor(ms: number, work: () => void, background: boolean) {
    this.#arm(Math.max(0, ms), work, background);
  }

  #arm(ms: number, work: () => void, background: boolean): void {
    const part = Math.min(ms, LONGEST_TIMER);
    this.#handle = setTimeout(
      () => (ms > part ? this.#arm(ms - part, work, background) : work()),
      Math.ceil(part),
    );
    if (background) this.#handle.unref();
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }
}

/** The real time. A `background` timer does not keep the process alive. */
export const systemClock: Clock = {
  now: () => epoch(),
  monotonic,
  after: (ms, work, options) => new SystemTimer(ms, work, options?.background ?? false),
  nextTurn: (work) => {
    setImmediate(work);
  },
};

/** Resolves no sooner than after `ms`, or as soon as `signal` aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/**
 * Waits for `work` at most `ms`, and no longer than until `signal` aborts. Resolves with whether it ended
 * before, resolved or rejected.
 */
export function within(
  clock: Clock,
  ms: number,
  work: Promise<unknown>,
  signal?: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (inTime: boolean): void => {
      timer.cancel();
      signal?.removeEventListener('abort', aborted);
      resolve(inTime);
    };
    const aborted = (): void => end(false);
    const timer = clock.after(ms, aborted);
    // Before the signal is checked: a later rejection of the work must be handled.
    work.then(
      () => end(true),
      () => end(true),
    );
    if (signal?.aborted) return end(false);
    signal?.addEventListener('abort', aborted, { once: true });
  });
}

/** The result of `work` within `ms`; `undefined` if it takes longer, rejects, or `signal` aborts. */
export async function resultWithin<T>(
  clock: Clock,
  ms: number,
  work: Promise<T>,
  signal?: AbortSignal,
): Promise<T | undefined> {
  let result: T | undefined;
  const stored = work.then((value) => {
    result = value;
  });
  await within(clock, ms, stored, signal);
  return result;
}

/** A function that returns how much of `ms` is left, at least 0. */
export function countdown(clock: Clock, ms: number): () => number {
  const end = clock.monotonic() + ms;
  return () => Math.max(0, end - clock.monotonic());
}
