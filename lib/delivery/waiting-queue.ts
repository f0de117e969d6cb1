import { createHash } from 'node:crypto';
import { LONGEST_DELAY } from '../model/duration';
import type { QueueType } from '../model/options';

/** AMQP's limit for a name, in bytes. */
const LONGEST_NAME = 255;

/**
 * The delay on the grid for a requested one, in ms: never shorter, at most 12.5 % longer. Every whole
 * ms below 8 ms is on the grid; above, multiples of `2^(floor(log2 ms) - 3)`. The grid never changes
 * between releases, since the names and the TTLs of existing queues come from it.
 */
export function roundUpDelay(ms: number): number {
  const whole = Math.max(1, Math.ceil(ms));
  if (whole < 8) return whole;
  const step = 2 ** (Math.floor(Math.log2(whole)) - 3);
  return Math.ceil(whole / step) * step;
}

/**
 * The name of the queue in which copies for `queue` wait `ms`, a delay on the grid. A name that is too
 * long for AMQP ends in a hash of the queue's name in place of its tail.
 */
export function waitingQueueName(queue: string, type: QueueType, ms: number): string {
  const tail = `.${type === 'quorum' ? 'waitq' : 'wait'}.${ms}`;
  return shortened(queue, LONGEST_NAME - tail.length) + tail;
}

/** Whether a name is that of one of the waiting queues of `queue`, of either type. */
export function isWaitingQueue(name: unknown, queue: string): boolean {
  if (typeof name !== 'string') return false;
  const [, type, digits] = /\.(wait|waitq)\.(\d+)$/.exec(name) ?? [];
  const ms = Number(digits);
  if (type === undefined || ms > 2 * LONGEST_DELAY || roundUpDelay(ms) !== ms) return false;
  return name === waitingQueueName(queue, type === 'waitq' ? 'quorum' : 'classic', ms);
}

function shortened(name: string, room: number): string {
  if (Buffer.byteLength(name) <= room) return name;
  const hash = `~${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;
  const kept = Buffer.from(name).subarray(0, room - hash.length);
  // A cut in the middle of a character leaves replacement characters behind.
  return kept.toString().replace(/\uFFFD+$/, '') + hash;
}
