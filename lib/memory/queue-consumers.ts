import type { StoredMessage } from './stored-message';

/** Whoever takes messages out of a queue. */
export interface QueueConsumer {
  /** Whether it takes one more now. */
  readonly hasRoom: boolean;
  take(message: StoredMessage): void;
  /** The queue is gone. */
  cancelled(): void;
}

/** The consumers of a queue, which take turns. */
export class QueueConsumers {
  readonly #list: QueueConsumer[] = [];

  get count(): number {
    return this.#list.length;
  }

  get haveRoom(): boolean {
    return this.#list.some(({ hasRoom }) => hasRoom);
  }

  add(consumer: QueueConsumer): void {
    this.#list.push(consumer);
  }

  /** Says whether it was there. */
  remove(consumer: QueueConsumer): boolean {
    const index = this.#list.indexOf(consumer);
    if (index >= 0) this.#list.splice(index, 1);
    return index >= 0;
  }

  /** The one whose turn it is, if any has room; it then stands at the end. */
  next(): QueueConsumer | undefined {
    const index = this.#list.findIndex(({ hasRoom }) => hasRoom);
    if (index < 0) return undefined;
    const [consumer] = this.#list.splice(index, 1);
    if (consumer !== undefined) this.#list.push(consumer);
    return consumer;
  }

  /** Tells all of them that the queue is gone. */
  cancelAll(): void {
    for (const consumer of this.#list.splice(0)) consumer.cancelled();
  }
}
