import { createHash } from 'node:crypto';
import type { IncomingMessage } from '../model/delivery';

/** What RabbitMQ changes in a message that stays in its queue. */
const CHANGING: ReadonlySet<string> = new Set(['x-delivery-count', 'x-acquired-count']);

/**
 * A hash of a message that stays the same each time its queue delivers it. The headers are sorted: a quorum
 * queue that adds its count delivers them in another order than before.
 */
export function fingerprintOf({ content, properties }: IncomingMessage): string {
  const { headers, ...others } = properties;
  const own = Object.entries(headers ?? {})
    .filter(([name]) => !CHANGING.has(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const hash = createHash('sha256').update(JSON.stringify([others, own]));
  return hash.update(content).digest('hex').slice(0, 16);
}

/** Gives each message of one scan an id; those that do not differ are numbered in their order. */
export class Identities {
  readonly #seen = new Map<string, number>();

  idOf(message: IncomingMessage): string {
    const fingerprint = fingerprintOf(message);
    const count = (this.#seen.get(fingerprint) ?? 0) + 1;
    this.#seen.set(fingerprint, count);
    return count === 1 ? fingerprint : `${fingerprint}-${count}`;
  }
}

/**
 * Messages selected by their ids. Messages that do not differ are interchangeable: as many of them are
 * selected as ids were given.
 */
export class SelectedIds {
  readonly #left = new Map<string, number>();

  constructor(ids: readonly string[]) {
    for (const id of new Set(ids)) {
      const fingerprint = id.replace(/-\d+$/, '');
      this.#left.set(fingerprint, (this.#left.get(fingerprint) ?? 0) + 1);
    }
  }

  /** Whether every id has been found. */
  get areFound(): boolean {
    return this.#left.size === 0;
  }

  /** Whether a message is selected; if so, its id has been found. */
  take(message: IncomingMessage): boolean {
    const fingerprint = fingerprintOf(message);
    const left = this.#left.get(fingerprint);
    if (left === undefined) return false;
    if (left === 1) this.#left.delete(fingerprint);
    else this.#left.set(fingerprint, left - 1);
    return true;
  }
}
