import { createHash } from 'node:crypto';
import type { QueueType } from '../model/options';

/** AMQP's limit for a name, in bytes. */
const LONGEST_NAME = 255;

/** The longest TTL on the grid, in ms. */
const LONGEST_TTL = 2 ** 32;

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

/** The delays that people write, in ms: they are on the grid as they are. */
export const ROUND_DELAYS: readonly number[] = [
  ...[100, 200, 250, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 3, 7, 14, 30].map((count) => count * DAY),
];

/**
 * The shortest delay on the grid that is not below a requested one, in ms: at most 12.5 % longer. On the grid
 * are the round delays that people write, every whole ms below 8 ms and, above, the multiples of
 * `2^(floor(log2 ms) - 3)`. The grid never changes between releases, since the names and the TTLs of
 * existing queues come from it.
 */
export function roundUpDelay(ms: number): number {
  const whole = Math.max(1, Math.ceil(ms));
  if (whole < 8) return whole;
  const step = 2 ** (Math.floor(Math.log2(whole)) - 3);
  const multiple = Math.ceil(whole / step) * step;
  return ROUND_DELAYS.find((round) => round >= whole && round < multiple) ?? multiple;
}

/**
 * The name of the queue in which messages for `queue` wait `ms`. A name that is too long for AMQP ends in a
 * hash of the queue's name in place of its tail.
 */
export function waitingQueueName(queue: string, type: QueueType, ms: number): string {
  const tail = `.${type === 'quorum' ? 'waitq' : 'wait'}.${ms}`;
  return shortened(queue, LONGEST_NAME - tail.length) + tail;
}

/**
 * Whether a name is that of a waiting queue of `queue`, of either type and for any delay: what waits when
 * the backoff of a subscription changes belongs to it all the same.
 */
export function isWaitingQueue(name: unknown, queue: string): boolean {
  if (typeof name !== 'string' || name.length > LONGEST_NAME) return false;
  const [, type, digits] = /\.(wait|waitq)\.([1-9]\d{0,9})$/.exec(name) ?? [];
  const ms = Number(digits);
  if (type === undefined || ms > LONGEST_TTL) return false;
  return name === waitingQueueName(queue, type === 'waitq' ? 'quorum' : 'classic', ms);
}

function shortened(name: string, room: number): string {
  if (Buffer.byteLength(name) <= room) return name;
  const hash = `~${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;
  const kept = Buffer.from(name).subarray(0, room - hash.length);
  // A cut in the middle of a character leaves replacement characters behind.
  return kept.toString().replace(/\uFFFD+$/, '') + hash;
}
