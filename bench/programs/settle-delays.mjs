// @ts-check
/**
 * How accurate the delays of nestjs-settle are: each message asks for a delay of its own when it comes first, and is
 * seen again after it. Measured in this process, from the outcome to the start of the handler.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { job, started, tell } from './support/program.mjs';
import { retryAfter, SettlementEvents } from './support/settle.mjs';
import { DECLARED, startSettle } from './support/settle-app.mjs';

const { delays } = /** @type {{ delays: number[] }} */ (/** @type {unknown} */ (job));

/** @type {Map<number, { requestedMs: number, at: number }>} */
const waiting = new Map();
/** @type {{ requestedMs: number, seenMs: number }[]} */
const seen = [];
/** @type {Set<string>} */
const waitingQueues = new Set();
let finish = () => {};
/** @type {Promise<void>} */
const finished = new Promise((resolve) => {
  finish = resolve;
});

class Handler {
  /**
   * @param {{ id: number }} payload
   */
  handle({ id }) {
    const now = performance.now();
    const asked = waiting.get(id);
    if (asked === undefined) {
      const requestedMs = Number(delays[id % delays.length]);
      waiting.set(id, { requestedMs, at: performance.now() });
      return retryAfter(requestedMs);
    }
    seen.push({ requestedMs: asked.requestedMs, seenMs: now - asked.at });
    if (seen.length === job.messages) finish();
    return undefined;
  }
}

await started();
const app = await startSettle(Handler, {
  queue: job.queue,
  declare: { queue: false },
  ...DECLARED,
});
app.get(SettlementEvents).subscribe(({ republished }) => {
  if (republished !== undefined) waitingQueues.add(republished.queue);
});
const loop = monitorEventLoopDelay({ resolution: 5 });
loop.enable();
tell({ kind: 'first', at: performance.timeOrigin + performance.now() });
await finished;
loop.disable();
const loopDelayMs = Math.max(0, loop.percentile(99) / 1e6 - 5);
await app.close();
tell({ kind: 'delays', seen, waitingQueues: [...waitingQueues], loopDelayMs });
