import { type Clock, sleep } from '../clock';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { RepublishResult, RepublishTarget } from './port';
import { waitingQueueOf } from './waiting-queues';

const MOST_TRIES = 5;
const FIRST_PAUSE = 100;

/**
 * One try to publish a message.
 * @param limitMs the time that is left, in ms.
 * @param isRetry whether an earlier try failed.
 */
export type Publish = (limitMs: number, isRetry: boolean) => Promise<string>;

/**
 * Tries to publish a message, 5 times at most, with a growing pause, all within the time limit. Ends as
 * soon as the delivery's channel closes, since the broker will redeliver it. Never rejects.
 */
export async function tryToPublish(
  clock: Clock,
  timeLimit: number,
  lost: AbortSignal,
  attempt: Publish,
): Promise<RepublishResult | { readonly status: 'unencodable' }> {
  const deadline = clock.monotonic() + timeLimit;
  let last: unknown;
  let tries = 0;
  while (tries < MOST_TRIES) {
    if (tries > 0) await sleep(clock, FIRST_PAUSE * 2 ** (tries - 1), lost);
    if (lost.aborted) break;
    const left = deadline - clock.monotonic();
    if (left <= 0) break;
    tries += 1;
    try {
      last = await attempt(left, tries > 1);
    } catch (error) {
      last = error;
    }
    if (last === 'confirmed' || last === 'unencodable') return { status: last };
  }
  return lost.aborted ? { status: 'lost' } : { status: 'failed', tries, error: last };
}

/** The queue to which a message is published, through the default exchange. */
export function targetQueueOf(
  subscription: SubscriptionMetadata,
  queue: string,
  target: RepublishTarget,
): string {
  if (target.to === 'deadLetter') return subscription.deadLetter?.queue ?? '';
  if (target.delayMs === 0) return queue;
  return waitingQueueOf(subscription, queue, target.delayMs).name;
}
