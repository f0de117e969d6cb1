import { backoffDeclarationOf } from '../model/backoff';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { roundUpDelay } from './waiting-queue';

/** The most delays of a subscription that are exact. */
const MOST_EXACT = 64;
/** The most attempts that can be configured; without `retry` their number is not limited. */
const MOST_ATTEMPTS = 10_000;

type Retrying = Pick<SubscriptionMetadata, 'retry' | 'backoff'>;

const exact = new WeakMap<Retrying, ReadonlySet<number>>();

/**
 * The delays of a backoff that are known in advance, in ms and without those of 0: the first 64 of a backoff
 * of this library without jitter. None of another one.
 */
export function exactDelaysOf(subscription: Retrying): ReadonlySet<number> {
  let delays = exact.get(subscription);
  if (delays === undefined) {
    delays = computed(subscription);
    exact.set(subscription, delays);
  }
  return delays;
}

/** How long a message waits that is to wait `ms`: exactly that if its backoff is known, else a delay on the grid. */
export function waitingDelayOf(subscription: Retrying, ms: number): number {
  const whole = Math.max(1, Math.ceil(ms));
  return exactDelaysOf(subscription).has(whole) ? whole : roundUpDelay(whole);
}

// The delay after the last attempt is never used.
function computed({ retry, backoff }: Retrying): ReadonlySet<number> {
  const delays = new Set<number>();
  if (backoffDeclarationOf(backoff)?.jitter !== 0) return delays;
  const { attempts = MOST_ATTEMPTS } = retry ?? {};
  for (let attempt = 1; attempt < attempts && delays.size < MOST_EXACT; attempt += 1) {
    const ms = backoff.delay(attempt);
    if (ms > 0) delays.add(ms);
  }
  return delays;
}
