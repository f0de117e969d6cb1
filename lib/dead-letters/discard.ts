import { createHash } from 'node:crypto';
import type { QueueClient } from '../amqp/queue-client';
import { texts } from '../log/texts';
import type { DescribedLetter } from './describe';
import type { DiscardOptions } from './options';
import type { DiscardResult } from './results';
import { type RunTerms, SelectiveRun } from './run';
import { Selection } from './selection';

/** What a dry run permits. */
export interface DiscardPermission {
  /** How many messages at most. */
  readonly count: number;
  /** When the dry run began, in ms since the epoch: what was dead-lettered later is not deleted. */
  readonly at: number;
}

/** The token of a dry run. It holds what it permits, and a hash of what it was asked for. */
export function tokenOf(
  queue: string,
  options: DiscardOptions,
  { count, at }: DiscardPermission,
): string {
  return `${count}-${at.toString(36)}-${hashOf(queue, options, count, at)}`;
}

/**
 * What a token permits.
 * @throws TypeError if it is not the token of a dry run with the same queue and selection.
 */
export function permissionOf(queue: string, options: DiscardOptions): DiscardPermission {
  const { confirm } = options;
  if (confirm === undefined) throw new TypeError(texts.discardUnconfirmed);
  const [, digits, time, hash] = /^(\d{1,10})-([0-9a-z]{1,10})-([0-9a-f]{12})$/.exec(confirm) ?? [];
  const [count, at] = [Number(digits), Number.parseInt(time ?? '', 36)];
  if (hash === undefined || hash !== hashOf(queue, options, count, at)) {
    throw new TypeError(texts.discardTokenInvalid(confirm));
  }
  return { count, at };
}

/** Deletes what is selected and permitted, or counts it. */
export async function discardLetters(
  client: QueueClient,
  queue: string,
  options: DiscardOptions,
  { permission, clock, signal }: DiscardTerms,
): Promise<DiscardResult> {
  const limit = permission && Math.min(permission.count, options.limit ?? permission.count);
  const selection = new Selection(limit === undefined ? options : { ...options, limit });
  const run = new SelectiveRun(client, queue, selection, { clock, signal });
  const at = clock.now();
  let discarded = 0;
  const ended = await run.start({
    isPassedOver: ({ failedAt }: DescribedLetter) =>
      permission !== undefined && failedAt !== undefined && failedAt.getTime() > permission.at,
    act: (selected) => {
      if (permission === undefined) run.keep(selected);
      else {
        selected.held.acknowledge((isWritten) => {
          if (isWritten) discarded += 1;
        });
      }
      return true;
    },
  });
  const result = { ...run.counts, ...ended, discarded, dryRun: permission === undefined };
  if (permission !== undefined) return result;
  return { ...result, token: tokenOf(queue, options, { count: run.counts.matched, at }) };
}

/** How messages are discarded. */
export interface DiscardTerms extends RunTerms {
  /** `undefined`: a dry run. */
  readonly permission: DiscardPermission | undefined;
}

function hashOf(queue: string, options: DiscardOptions, count: number, at: number): string {
  const { where = {}, ids, limit } = options;
  const filter = Object.entries(where)
    .filter(([, value]) => value !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([queue, filter, ids ?? null, limit ?? null, count, at]);
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
