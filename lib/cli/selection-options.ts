import { type Command, InvalidArgumentError } from 'commander';
import type { DeadLetterFilter } from '../dead-letters/filter';
import { texts } from '../log/texts';

/** The options that select messages. */
export interface FilterOptions {
  readonly reason?: string[];
  readonly error?: string[];
  readonly handler?: string[];
  readonly messageId?: string[];
  readonly group?: string[];
  readonly since?: string;
  readonly until?: string;
  readonly scan?: number;
  readonly limit?: number;
}

/** Adds the filter, `--scan` and `--limit` to a command. */
export function withFilter(command: Command, limit: string): Command {
  return command
    .option('--reason <reason...>', texts.cliReason)
    .option('--error <class...>', texts.cliErrorName)
    .option('--handler <handler...>', texts.cliHandler)
    .option('--message-id <id...>', texts.cliMessageId)
    .option('--group <key...>', texts.cliGroup)
    .option('--since <time>', texts.cliSince)
    .option('--until <time>', texts.cliUntil)
    .option('--scan <count>', texts.cliScan, wholeNumber)
    .option('-n, --limit <count>', limit, wholeNumber);
}

/** The filter of the options, without what is not given. */
export function filterOf(options: FilterOptions): DeadLetterFilter {
  const { reason, error: errorName, handler, messageId, group, since: from, until: to } = options;
  const all = { reason, errorName, handler, messageId, group, from, to };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** @throws InvalidArgumentError if the text is not a whole number from 1. */
export function wholeNumber(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new InvalidArgumentError(texts.cliWholeNumber);
}

/** @throws InvalidArgumentError if the text is not a number above 0. */
export function positiveNumber(text: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  throw new InvalidArgumentError(texts.cliPositiveNumber);
}
