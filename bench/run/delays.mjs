// @ts-check
import { setTimeout as wait } from 'node:timers/promises';
import { median, percentile } from '../statistics.mjs';
import { Child } from './child.mjs';

/** @typedef {import('./queues.mjs').Queues} Queues */
/** @typedef {import('../programs/support/program.mjs').SeenDelay} SeenDelay */

/**
 * How accurate delays are; times in ms.
 *
 * @typedef {object} Delays
 * @property {string} queueType
 * @property {number} messages
 * @property {number} differentDelays
 * @property {number} waitingQueues
 * @property {number} loopDelayMs
 * @property {number} least the least that a message was late; negative: it was early
 * @property {number} p50
 * @property {number} p99
 * @property {number} allowanceUsedP99 p99 of what a message was late, less 12.5 % of its delay
 */

/** @typedef {{ messages: number, differentDelays: number, longestMs: number, spreadMs: number }} Size */

/** @type {Size} */
export const FULL = { messages: 10_000, differentDelays: 200, longestMs: 20_000, spreadMs: 60_000 };
/** @type {Size} */
export const QUICK = { messages: 200, differentDelays: 20, longestMs: 1000, spreadMs: 2000 };

const SHORTEST = 50;

/**
 * Delays from 50 ms to the longest, each a fixed part longer than the one before, in whole ms.
 *
 * @param {Size} size
 * @returns {number[]}
 */
export function delaysOf({ differentDelays, longestMs }) {
  const factor = (longestMs / SHORTEST) ** (1 / (differentDelays - 1));
  return Array.from({ length: differentDelays }, (_, index) =>
    Math.round(SHORTEST * factor ** index),
  );
}

/**
 * Publishes messages evenly over a while to one process that asks for a delay for each of them.
 *
 * @param {string} uri
 * @param {Queues} queues
 * @param {'classic' | 'quorum'} queueType
 * @param {Size} size
 * @returns {Promise<Delays>}
 */
export async function measureDelays(uri, queues, queueType, size) {
  const queue = `bench.delays.${process.pid}.${queueType}`;
  const dead = `${queue}.dead`;
  const { messages, longestMs, spreadMs } = size;
  const delays = delaysOf(size);
  const child = new Child('settle-delays', {
    uri,
    queue,
    dead,
    queueType,
    messages,
    delays,
    prefetch: 250,
  });
  /** @type {string[]} */
  let waitingQueues = [];
  try {
    await queues.declare(queue, dead, queueType);
    await child.told('loaded');
    child.order('start');
    await child.told('first');
    await publishEvenly(queues, queue, messages, spreadMs);
    const told = await child.told('delays', longestMs * 2 + 60_000);
    waitingQueues = told.waitingQueues;
    await child.ended();
    const { loopDelayMs } = told;
    const counts = {
      messages,
      differentDelays: delays.length,
      waitingQueues: waitingQueues.length,
    };
    return { queueType, ...counts, loopDelayMs, ...latenessOf(told.seen) };
  } finally {
    child.kill();
    await queues.delete([queue, dead, ...waitingQueues]);
  }
}

/**
 * @param {readonly SeenDelay[]} seen
 * @returns {Pick<Delays, 'least' | 'p50' | 'p99' | 'allowanceUsedP99'>}
 */
export function latenessOf(seen) {
  const late = seen.map(({ requestedMs, seenMs }) => seenMs - requestedMs);
  const beyondGrid = seen.map(({ requestedMs, seenMs }) => seenMs - requestedMs * 1.125);
  return {
    least: percentile(late, 0),
    p50: median(late),
    p99: percentile(late, 99),
    allowanceUsedP99: percentile(beyondGrid, 99),
  };
}

/**
 * @param {Queues} queues
 * @param {string} queue
 * @param {number} messages
 * @param {number} spreadMs
 */
async function publishEvenly(queues, queue, messages, spreadMs) {
  const begin = performance.now();
  for (let sent = 0; sent < messages; ) {
    const due = Math.min(messages, Math.ceil(((performance.now() - begin) / spreadMs) * messages));
    if (due > sent) await queues.fill(queue, { messages: due - sent, bytes: 250, first: sent });
    sent = due;
    await wait(20);
  }
}
