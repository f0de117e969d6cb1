import type { QueueClient } from '../amqp/queue-client';
import { type Clock, sleep } from '../clock';
import { texts } from '../log/texts';
import type { DescribedLetter } from './describe';
import type { ReplayOptions } from './options';
import { ReplayPublisher } from './replay-publisher';
import type { ReplayProgress, ReplayResult } from './results';
import { type RunTerms, type Selected, SelectiveRun } from './run';
import { Selection } from './selection';

/** How often progress is reported at most, in ms. */
const PROGRESS_INTERVAL = 100;

/**
 * Publishes what is selected to its target and removes it from the queue. A message that fails again at once
 * and is back in the queue is not replayed a second time.
 * @param signal ends the run.
 */
export async function replayLetters(
  client: QueueClient,
  queue: string,
  options: ReplayOptions,
  { clock, signal }: RunTerms,
): Promise<ReplayResult> {
  const { to, dryRun = false, onProgress } = options;
  const run = new SelectiveRun(client, queue, new Selection(options), { clock, signal });
  const publisher = new ReplayPublisher(client, run, clock);
  const pace = paceOf(options.rate, clock, signal);
  const startedAt = clock.now();
  const progress = (): ReplayProgress => {
    const { replayed, failed } = publisher;
    return { ...run.counts, replayed, failed };
  };
  const report = reporterOf(clock, () => onProgress?.(progress()));
  const act = async (selected: Selected): Promise<boolean> => {
    const target = to ?? selected.letter.origin?.queue;
    if (target === undefined) publisher.withoutOrigin(selected);
    else if (dryRun) {
      publisher.count(target);
      run.keep(selected);
    } else {
      if (!(await pace())) {
        run.keep(selected);
        return false;
      }
      await publisher.publish(selected, target);
    }
    return to === undefined || !publisher.isUnavailable(to);
  };
  const isPassedOver = ({ replayedAt }: DescribedLetter): boolean =>
    replayedAt !== undefined && replayedAt.getTime() >= startedAt;
  const finish = (): Promise<void> => publisher.finish();
  const result = await run.start({ act, isPassedOver, progress: report, finish });
  onProgress?.(progress());
  const { targets, failures, duplicated } = publisher;
  // The last messages may have been refused once everything had been read.
  const isRefused = to !== undefined && publisher.isUnavailable(to) && result.ended === 'complete';
  const ended = isRefused ? 'target' : result.ended;
  return { ...progress(), ...result, ended, dryRun, targets, failures, duplicated };
}

/** @throws TypeError if the options of a replay are not valid. */
export function checkReplayOptions(queue: string, { to, rate }: ReplayOptions): void {
  if (to === queue) throw new TypeError(texts.replayToItself(queue));
  if (to !== undefined && (typeof to !== 'string' || to === '')) {
    throw new TypeError(texts.deadLetterOptionInvalid('to', 'the name of a queue', to));
  }
  if (rate !== undefined && !(typeof rate === 'number' && rate > 0 && Number.isFinite(rate))) {
    throw new TypeError(texts.deadLetterOptionInvalid('rate', 'a number above 0', rate));
  }
}

/** Waits until the next message may be published; resolves with false if `signal` aborts. */
function paceOf(
  rate: number | undefined,
  clock: Clock,
  signal: AbortSignal,
): () => Promise<boolean> {
  let due = clock.monotonic();
  return async () => {
    if (rate === undefined) return !signal.aborted;
    const now = clock.monotonic();
    if (due > now) await sleep(clock, due - now, signal);
    due = Math.max(due, now) + 1_000 / rate;
    return !signal.aborted;
  };
}

function reporterOf(clock: Clock, report: () => void): () => void {
  let next = clock.monotonic() + PROGRESS_INTERVAL;
  return () => {
    const now = clock.monotonic();
    if (now < next) return;
    next = now + PROGRESS_INTERVAL;
    report();
  };
}
