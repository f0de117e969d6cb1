import { SettleHeaders, textHeaderOf } from '../delivery/headers';
import type { Headers } from '../model/delivery';
import type { DeadLetterEvent } from './dead-letter';
import { countOf, deathsOf, validDate } from './deaths';
import { replayedAtOf } from './describe';

/** What happened to a message, in order, as far as its headers tell; events without a time come last. */
export function historyOf(headers: Headers): readonly DeadLetterEvent[] {
  return [...failures(headers), ...moves(headers), ...replays(headers)].sort(
    (one, other) => timeOf(one) - timeOf(other) || 0,
  );
}

function failures(headers: Headers): DeadLetterEvent[] {
  const queue = textHeaderOf(headers, SettleHeaders.queue);
  const events: DeadLetterEvent[] = [];
  const first = validDate(textHeaderOf(headers, SettleHeaders.firstFailedAt));
  if (first !== undefined) events.push({ kind: 'failed', at: first, queue, count: 1 });
  const reason = textHeaderOf(headers, SettleHeaders.reason);
  if (reason === undefined) return events;
  const at = validDate(textHeaderOf(headers, SettleHeaders.failedAt));
  return [...events, { kind: 'dead-lettered', at, queue, reason, count: 1 }];
}

// x-death has the newest entry first.
function moves(headers: Headers): DeadLetterEvent[] {
  return deathsOf(headers)
    .map(({ at, queue, reason, count }) => ({ kind: 'moved' as const, at, queue, reason, count }))
    .reverse();
}

function replays(headers: Headers): DeadLetterEvent[] {
  const count = countOf(headers, SettleHeaders.replays) ?? 0;
  return count === 0 ? [] : [{ kind: 'replayed', at: replayedAtOf(headers), count }];
}

// Infinity - Infinity is NaN, which leaves the order as it is.
function timeOf({ at }: DeadLetterEvent): number {
  return at?.getTime() ?? Number.POSITIVE_INFINITY;
}
