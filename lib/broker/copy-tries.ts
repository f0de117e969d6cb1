import { type Clock, pause } from '../clock';
import { gridDelay, waitingQueueName } from '../delivery/waiting-queue';
import type { Subscription } from '../subscription/subscription';
import type { CopyTarget } from './port';

const MOST_TRIES = 5;
const FIRST_PAUSE = 100;

/** How the tries of one copy ended; `last` is how the last one did, or what it threw. */
export interface TriesResult {
  readonly result: 'confirmed' | 'failed' | 'lost' | 'unencodable';
  readonly last: unknown;
}

/**
 * Tries to send a copy, 5 times at most, with a growing pause, all within the time limit. Stops as soon as
 * the original's channel is gone, since the broker hands that out again. Never rejects.
 * @param attempt one try: gets the time that is left in ms, and whether it is not the first.
 */
export async function tryToSend(
  clock: Clock,
  timeLimit: number,
  lost: AbortSignal,
  attempt: (limitMs: number, again: boolean) => Promise<string>,
): Promise<TriesResult> {
  const deadline = clock.monotonic() + timeLimit;
  let last: unknown;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    if (tries > 0) await pause(clock, FIRST_PAUSE * 2 ** (tries - 1), lost);
    if (lost.aborted) break;
    const left = deadline - clock.monotonic();
    if (left <= 0) break;
    try {
      last = await attempt(left, tries > 0);
    } catch (error) {
      last = error;
    }
    if (last === 'confirmed' || last === 'unencodable') return { result: last, last };
  }
  return { result: lost.aborted ? 'lost' : 'failed', last };
}

/** The queue to which a copy is published, through the default exchange. */
export function copyQueueOf(subscription: Subscription, queue: string, target: CopyTarget): string {
  if (target.to === 'deadLetter') return subscription.deadLetter?.queue ?? '';
  if (target.delayMs === 0) return queue;
  return waitingQueueName(queue, subscription.queueType, gridDelay(target.delayMs));
}
