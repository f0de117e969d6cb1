import type { StoredMessage } from './stored-message';

/**
 * The messages of a queue that wait for a consumer, in the order in which they are handed out. What came
 * back to the head stands before the rest, in the order in which it came back.
 */
export class ReadyMessages {
  readonly #returned: StoredMessage[] = [];
  readonly #messages: StoredMessage[] = [];
  #places = 0;

  get length(): number {
    return this.#returned.length + this.#messages.length;
  }

  get first(): StoredMessage | undefined {
    return this.#returned[0] ?? this.#messages[0];
  }

  /** All, in order. */
  get list(): readonly StoredMessage[] {
    return [...this.#returned, ...this.#messages];
  }

  /** Adds a message behind all others of its priority. */
  add(message: StoredMessage): void {
    this.#places += 1;
    message.place = this.#places;
    this.restore(message);
  }

  /** Puts a message back in its old place. */
  restore(message: StoredMessage): void {
    let index = this.#messages.length;
    while (index > 0 && !standsBefore(this.#messages[index - 1], message)) index -= 1;
    this.#messages.splice(index, 0, message);
  }

  /** Puts a message back before the rest. */
  returnToHead(message: StoredMessage): void {
    this.#returned.push(message);
  }

  shift(): StoredMessage | undefined {
    return this.#returned.shift() ?? this.#messages.shift();
  }

  clear(): void {
    this.#returned.length = 0;
    this.#messages.length = 0;
  }
}

function standsBefore(one: StoredMessage | undefined, other: StoredMessage): boolean {
  if (one === undefined) return true;
  return one.priority === other.priority ? one.place < other.place : one.priority > other.priority;
}
