import type { StoredMessage } from './stored-message';

/** Of so many messages in a row, one is of normal priority where priorities are shared. */
const SHARE = 3;

/**
 * The ready messages of a queue, in the order in which they are delivered. What has returned to the head
 * stands before the rest, in the order in which it returned.
 */
export class ReadyMessages {
  readonly #returned: StoredMessage[] = [];
  readonly #messages: StoredMessage[] = [];
  #places = 0;
  #bytes = 0;
  #taken = 0;

  /** @param sharesPriorities whether low priorities get their share while higher ones are ready. */
  constructor(private readonly sharesPriorities: boolean) {}

  get length(): number {
    return this.#returned.length + this.#messages.length;
  }

  /** The size of all, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The next one. */
  get first(): StoredMessage | undefined {
    return this.#returned[0] ?? this.#messages[this.#next];
  }

  /** All, in order. */
  get list(): readonly StoredMessage[] {
    return [...this.#returned, ...this.#messages];
  }

  /** Adds a message behind all others of its priority. */
  add(message: StoredMessage): void {
    this.#places += 1;
    message.place = this.#places;
    this.putBack(message);
  }

  /** Puts a message back in its old place. */
  putBack(message: StoredMessage): void {
    let index = this.#messages.length;
    while (index > 0 && !standsBefore(this.#messages[index - 1], message)) index -= 1;
    this.#messages.splice(index, 0, message);
    this.#bytes += message.bytes;
  }

  /** Puts a message before the rest. */
  returnToHead(message: StoredMessage): void {
    this.#returned.push(message);
    this.#bytes += message.bytes;
  }

  /** Removes the next one. */
  shift(): StoredMessage | undefined {
    const message = this.#returned.shift() ?? this.#take();
    this.#bytes -= message?.bytes ?? 0;
    return message;
  }

  clear(): void {
    this.#returned.length = 0;
    this.#messages.length = 0;
    this.#bytes = 0;
  }

  #take(): StoredMessage | undefined {
    const [message] = this.#messages.splice(this.#next, 1);
    if (message !== undefined) this.#taken = (this.#taken + 1) % SHARE;
    return message;
  }

  // The turn of an older message of a lower priority comes after two others.
  get #next(): number {
    const [first] = this.#messages;
    if (!this.sharesPriorities || this.#taken < SHARE - 1 || first === undefined) return 0;
    const low = this.#messages.findIndex(({ priority }) => priority < first.priority);
    const other = this.#messages[low];
    return other !== undefined && other.place < first.place ? low : 0;
  }
}

function standsBefore(one: StoredMessage | undefined, other: StoredMessage): boolean {
  if (one === undefined) return true;
  return one.priority === other.priority ? one.place < other.place : one.priority > other.priority;
}
