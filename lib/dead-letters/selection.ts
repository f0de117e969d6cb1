import { texts } from '../log/texts';
import type { IncomingMessage } from '../model/delivery';
import type { DescribedLetter } from './describe';
import { matcherOf } from './filter';
import { SelectedIds } from './identity';
import type { ScanOptions, SelectOptions } from './options';

const DEFAULT_SCAN = 10_000;
/** Below the largest prefetch count, with room for what is being published. */
const MOST_SCAN = 50_000;

/**
 * How many messages are held at most.
 * @throws TypeError if the option is not valid.
 */
export function scanOf({ scan = DEFAULT_SCAN }: ScanOptions): number {
  if (Number.isInteger(scan) && scan >= 1 && scan <= MOST_SCAN) return scan;
  const expected = `a whole number from 1 to ${MOST_SCAN}`;
  throw new TypeError(texts.deadLetterOptionInvalid('scan', expected, scan));
}

/**
 * A number of messages.
 * @throws TypeError if the option is not valid.
 */
export function limitOf(limit: number | undefined, otherwise: number): number {
  if (limit === undefined) return otherwise;
  if (Number.isSafeInteger(limit) && limit >= 0) return limit;
  throw new TypeError(texts.deadLetterOptionInvalid('limit', 'a whole number from 0', limit));
}

/** Which messages of a queue are replayed or discarded. */
export class Selection {
  readonly scan: number;
  readonly limit: number;
  readonly #matches: (letter: DescribedLetter) => boolean;
  readonly #ids: SelectedIds | undefined;

  /** @throws TypeError if the options are not valid. */
  constructor(options: SelectOptions) {
    this.scan = scanOf(options);
    this.limit = limitOf(options.limit, Number.POSITIVE_INFINITY);
    this.#matches = matcherOf(options.where);
    this.#ids = selectedIds(options.ids);
  }

  /** Whether every id has been found; false without ids. */
  get isFound(): boolean {
    return this.#ids?.areFound ?? false;
  }

  /** Whether a message is selected. An id is found once. */
  takes(message: IncomingMessage, letter: DescribedLetter): boolean {
    return this.#matches(letter) && (this.#ids?.take(message) ?? true);
  }
}

function selectedIds(ids: readonly string[] | undefined): SelectedIds | undefined {
  if (ids === undefined) return undefined;
  if (Array.isArray(ids) && ids.every((id) => typeof id === 'string')) return new SelectedIds(ids);
  throw new TypeError(texts.deadLetterOptionInvalid('ids', 'a list of ids', ids));
}
