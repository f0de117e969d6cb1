/** An item that a {@link LinkedList} can hold; in one list at a time. */
export interface Linked<T> {
  previous: T | undefined;
  next: T | undefined;
}

/**
 * Items in the order in which they were added, each removed in constant time. Deliveries are held in such
 * lists and not in a `Set` or `Map`: V8 gives these a new table after as many deletions as there are entries,
 * and until the next full garbage collection each old table keeps what it held, with the bodies of messages.
 * For the same reason a removed item is linked to nothing.
 */
export class LinkedList<T extends Linked<T>> implements Iterable<T> {
  #first: T | undefined;
  #last: T | undefined;
  #size = 0;

  get first(): T | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds an item; does nothing if it is in the list. */
  add(item: T): void {
    if (this.has(item)) return;
    item.previous = this.#last;
    if (this.#last === undefined) this.#first = item;
    else this.#last.next = item;
    this.#last = item;
    this.#size += 1;
  }

  has(item: T): boolean {
    return item.previous !== undefined || item === this.#first;
  }

  /** Removes an item. Returns whether it was in the list. */
  remove(item: T): boolean {
    if (!this.has(item)) return false;
    const { previous, next } = item;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    item.previous = undefined;
    item.next = undefined;
    this.#size -= 1;
    return true;
  }

  /** Iterates over the items; the one that was just returned may be removed meanwhile. */
  *[Symbol.iterator](): IterableIterator<T> {
    let item = this.#first;
    while (item !== undefined) {
      const { next } = item;
      yield item;
      item = next;
    }
  }
}
