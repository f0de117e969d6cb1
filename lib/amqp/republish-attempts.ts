import { type Clock, sleep } from '../clock';
import { texts } from '../log/texts';
import { RepublishError } from '../model/errors';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { RepublishTarget } from './port';
import { judgeTry, type Plan, type TryResult } from './republish-judgement';
import { waitingQueueOf } from './waiting-queues';

const MOST_TRIES = 5;
const FIRST_PAUSE = 100;

/**
 * One try to publish a message. Rejects if nothing was written.
 * @param plan how this try publishes.
 * @param limitMs the time that is left, in ms.
 * @param isRetry whether an earlier try failed.
 */
export type Publish = (plan: Plan, limitMs: number, isRetry: boolean) => Promise<TryResult>;

/** How all tries of one message ended. */
export type Tried =
  | {
      readonly status: 'confirmed';
      /** How the try published that was confirmed. */
      readonly plan: Plan;
      /** Why an earlier try had to be reduced. */
      readonly refusal: RepublishError | undefined;
    }
  | { readonly status: 'failed'; readonly tries: number; readonly error: RepublishError }
  | { readonly status: 'lost' };

/**
 * Tries to publish a message, 5 times at most, with a growing pause, all within the time limit. Ends as
 * soon as the delivery's channel closes, since the broker will redeliver it. Never rejects.
 * @param ended how the first try has ended, if it has been made.
 */
export async function tryToPublish(
  clock: Clock,
  timeLimit: number,
  lost: AbortSignal,
  publish: Publish,
  first: Plan,
  ended?: TryResult,
): Promise<Tried> {
  const deadline = clock.monotonic() + timeLimit;
  let plan = first;
  let last: RepublishError | undefined;
  let refusal: RepublishError | undefined;
  let mayHaveArrived = false;
  let tries = 0;
  let pause = 0;
  let made = ended;
  while (tries < MOST_TRIES) {
    if (pause > 0) await sleep(clock, pause, lost);
    const left = deadline - clock.monotonic();
    if (made === undefined && (lost.aborted || left <= 0)) break;
    tries += 1;
    const result = made ?? (await resultOf(() => publish(plan, left, tries > 1)));
    made = undefined;
    if (result.status === 'confirmed') return { status: 'confirmed', plan, refusal };
    const judgement = judgeTry(plan, result);
    last = judgement.error;
    mayHaveArrived ||= last.mayHaveArrived;
    if (judgement.next === undefined) break;
    if (judgement.next.form !== plan.form) refusal = last;
    pause = judgement.next === plan ? FIRST_PAUSE * 2 ** (tries - 1) : 0;
    plan = judgement.next;
  }
  if (lost.aborted) return { status: 'lost' };
  const error = last ?? new RepublishError(texts.noTimeToRepublish, { scope: 'broker' });
  return { status: 'failed', tries, error: withArrival(error, mayHaveArrived) };
}

async function resultOf(publish: () => Promise<TryResult>): Promise<TryResult> {
  try {
    return await publish();
  } catch (error) {
    return { status: 'unwritten', error };
  }
}

// An earlier try may have arrived although the last one has not.
function withArrival(error: RepublishError, mayHaveArrived: boolean): RepublishError {
  if (error.mayHaveArrived === mayHaveArrived) return error;
  const { message, scope, replyCode, cause } = error;
  return new RepublishError(message, { scope, replyCode, mayHaveArrived, cause });
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
