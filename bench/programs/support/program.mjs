// @ts-check
/**
 * What a program and the process that started it say to each other. The job is the program's only parameter, as JSON.
 * The program tells `loaded`, is told `start`, tells `consuming`, `first` with the time at which measuring begins, and
 * `done` with what it measured: when the last message has succeeded, or when it is told `finish`. Told `count`, it
 * tells how often the handler has been called. It ends when it is told `end`: what it
 * tells right before it ends may get lost.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { handlerOf } from './handlers.mjs';
import { Meter } from './meter.mjs';

/** @typedef {import('./handlers.mjs').Handle} Handle */
/** @typedef {import('./handlers.mjs').HandlerKind} HandlerKind */
/** @typedef {import('./meter.mjs').Measured} Measured */

/**
 * @typedef {object} Job
 * @property {string} uri
 * @property {string} queue
 * @property {string} dead the dead-letter queue
 * @property {'classic' | 'quorum'} queueType
 * @property {number} prefetch
 * @property {number} messages
 * @property {number} warmUp how many of them come before measuring begins
 * @property {HandlerKind} handler
 * @property {number | undefined} [waitMs] how long the handler takes
 * @property {number | undefined} [delayMs] after how long a message is tried again
 */

/** @typedef {{ requestedMs: number, seenMs: number }} SeenDelay */

/**
 * @typedef {{ kind: 'loaded' }
 *   | { kind: 'first', at: number }
 *   | { kind: 'consuming' }
 *   | { kind: 'count', calls: number }
 *   | { kind: 'done', measured: Measured, calls: number }
 *   | { kind: 'delays', seen: SeenDelay[], waitingQueues: string[], loopDelayMs: number }} Told
 */

/** The job of this program. */
export const job = /** @type {Job} */ (JSON.parse(process.argv[2] ?? '{}'));

/**
 * Runs a program: `start` begins to consume with the handler that it is given, and resolves with what ends that.
 *
 * @param {(handle: Handle) => Promise<() => unknown>} start
 * @returns {Promise<void>}
 */
export async function runProgram(start) {
  const meter = new Meter();
  let calls = 0;
  let successes = 0;
  let finish = () => {};
  /** @type {Promise<Measured>} */
  const finished = new Promise((resolve) => {
    finish = () => resolve(meter.end());
  });
  const handle = handlerOf(job, {
    called() {
      calls += 1;
      if (calls !== job.warmUp + 1) return;
      meter.begin();
      tell({ kind: 'first', at: performance.timeOrigin + performance.now() });
    },
    succeeded() {
      successes += 1;
      if (successes === job.messages) finish();
    },
  });
  process.on('message', (order) => {
    if (order === 'finish') finish();
    if (order === 'count') tell({ kind: 'count', calls });
  });
  await started();
  const close = await start(handle);
  tell({ kind: 'consuming' });
  const measured = await finished;
  // The last messages have been handled, not acknowledged: each library does that in its own time.
  await wait(20);
  await close();
  tell({ kind: 'done', measured, calls });
}

/** Tells that all is loaded and waits to be told to start. */
export async function started() {
  process.on('message', (word) => word === 'end' && process.disconnect?.());
  const order = new Promise((resolve) => {
    process.on('message', (word) => word === 'start' && resolve(undefined));
  });
  tell({ kind: 'loaded' });
  await order;
}

/**
 * @param {Told} told
 */
export function tell(told) {
  process.send?.(told);
}
