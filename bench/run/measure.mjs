// @ts-check
import { programs } from '../programs.mjs';
import { Child } from './child.mjs';

/** @typedef {import('../cells.mjs').Cell} Cell */
/** @typedef {import('../programs.mjs').ProgramLabel} ProgramLabel */
/** @typedef {import('./queues.mjs').Queues} Queues */

/**
 * One run of one program.
 *
 * @typedef {object} Run
 * @property {number} perSecond messages a second
 * @property {number} cpu microseconds of processor time for a message
 * @property {number} peakBytes the most memory that the process ever had
 * @property {number} idleBytes what it had before it consumed
 * @property {number} loopDelayMs the event loop's delay at p99
 */

let number = 0;

/**
 * Fills a queue, lets one program take everything, and looks that it did: all messages handled as often as they should
 * be, nothing left over but what was acknowledged last.
 *
 * @param {string} uri
 * @param {Queues} queues
 * @param {Cell} cell
 * @param {ProgramLabel} label
 * @returns {Promise<Run>}
 */
export async function measure(uri, queues, cell, label) {
  number += 1;
  const queue = `bench.${process.pid}.${number}`;
  const dead = `${queue}.dead`;
  const { queueType, bytes } = cell;
  const { envelope, deadLetterRoute } = programs[label];
  const messages = cell.fewer?.[label] ?? cell.messages;
  // Nobody runs a consumer for a second: its code is compiled first. A failing message comes more than once.
  const warmUp = cell.handler === 'empty' || cell.handler === 'wait' ? Math.floor(messages / 4) : 0;
  const child = new Child(label, jobOf(cell, { uri, queue, dead, messages, warmUp }));
  try {
    const route = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': dead };
    await queues.declare(queue, dead, queueType, deadLetterRoute ? route : {});
    await Promise.all([queues.fill(queue, { messages, bytes, envelope }), child.told('loaded')]);
    child.order('start');
    const deadLetteredMs =
      cell.handler === 'fail' ? await deadLettered(queues, child, dead, messages) : undefined;
    const { measured, calls } = await child.told('done');
    await child.ended();
    await requireAllDone(queues, cell, { label, queue, messages, calls });
    const { elapsedMs, cpuMicroseconds, ...others } = measured;
    const count = messages - warmUp;
    const perSecond = count / ((deadLetteredMs ?? elapsedMs) / 1000);
    return { ...others, perSecond, cpu: cpuMicroseconds / count };
  } finally {
    child.kill();
    const waiting = ['wait.100', 'wait.104', 'waitq.104'].map((tail) => `${queue}.${tail}`);
    await queues.delete([queue, dead, ...(cell.delayMs ? waiting : [])]);
  }
}

/**
 * @param {Cell} cell
 * @param {{ uri: string, queue: string, dead: string, messages: number, warmUp: number }} place
 * @returns {import('../programs/support/program.mjs').Job}
 */
function jobOf({ queueType, prefetch, handler, waitMs, delayMs }, place) {
  return { ...place, queueType, prefetch, handler, waitMs, delayMs };
}

/**
 * Waits until all messages are in the dead-letter queue, and tells how long that took from the first one on.
 *
 * @param {Queues} queues
 * @param {Child} child
 * @param {string} dead
 * @param {number} messages
 * @returns {Promise<number>}
 */
async function deadLettered(queues, child, dead, messages) {
  const { at } = await child.told('first');
  const arrived = queues.untilCount(dead, messages, 60_000);
  arrived.catch(() => {}); // Where the program fails, that is the reason.
  await Promise.race([arrived, child.told('done')]);
  const ms = performance.timeOrigin + performance.now() - at;
  child.order('finish');
  return ms;
}

/**
 * @param {Queues} queues
 * @param {Cell} cell
 * @param {{ label: string, queue: string, messages: number, calls: number }} run
 */
async function requireAllDone(
  queues,
  { name, handler, prefetch },
  { label, queue, messages, calls },
) {
  const left = await queues.countOf(queue);
  const expected = handler === 'failTwice' ? 3 * messages : messages;
  // A server that is busy with a quorum queue forgets the acknowledgements right before the end of a channel.
  if (left <= prefetch && calls === expected) return;
  throw new Error(
    `${label} in "${name}": ${calls} calls of the handler in place of ${expected}, ${left} messages left`,
  );
}
