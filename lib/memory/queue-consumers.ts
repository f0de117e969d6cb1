import { isAtLeast, type ServerVersion } from '../amqp/queue-declarations';
import { ServerError } from './server-error';
import type { StoredMessage } from './stored-message';

/** A consumer of a queue. */
export interface QueueConsumer {
  /** Whether it can take one more message now. */
  readonly hasCapacity: boolean;
  /** Whether it has deliveries that are not settled. */
  readonly hasUnsettled: boolean;
  readonly isExclusive: boolean;
  /** Consumers of a higher priority come first as long as they have capacity. */
  readonly priority: number;
  deliver(message: StoredMessage): void;
  /** The queue was deleted. */
  cancelled(): void;
}

/** How a queue treats its consumers. */
export interface ConsumerRules {
  readonly type: 'classic' | 'quorum';
  readonly isSingleActive: boolean;
  readonly version: ServerVersion;
}

/** The consumers of a queue, which take turns, or of which only one is active. */
export class QueueConsumers {
  readonly #list: QueueConsumer[] = [];
  #active: QueueConsumer | undefined;

  constructor(
    private readonly queue: string,
    private readonly rules: ConsumerRules,
  ) {}

  get count(): number {
    return this.#list.length;
  }

  /** Whether any consumer can take a message now. */
  get haveCapacity(): boolean {
    return this.#candidate !== undefined;
  }

  /** @throws ServerError 403 if the queue has an exclusive consumer, or can't have this one. */
  add(consumer: QueueConsumer): void {
    if (this.#refuses(consumer)) {
      throw new ServerError(
        403,
        `queue '${this.queue}' in vhost '/' in exclusive use`,
        'BasicConsume',
      );
    }
    this.#list.push(consumer);
  }

  /** Returns whether it was there. */
  remove(consumer: QueueConsumer): boolean {
    const index = this.#list.indexOf(consumer);
    if (index >= 0) this.#list.splice(index, 1);
    if (this.#active === consumer) this.#active = undefined;
    return index >= 0;
  }

  /** The consumer whose turn it is, if any has capacity; its next turn comes after the others'. */
  next(): QueueConsumer | undefined {
    const consumer = this.#candidate;
    if (consumer === undefined) return undefined;
    this.#list.splice(this.#list.indexOf(consumer), 1);
    this.#list.push(consumer);
    return consumer;
  }

  /** Cancels all of them: the queue was deleted. */
  cancelAll(): void {
    for (const consumer of this.#list.splice(0)) consumer.cancelled();
  }

  get #candidate(): QueueConsumer | undefined {
    if (!this.rules.isSingleActive) return highest(this.#list.filter((one) => one.hasCapacity));
    const active = this.#activeConsumer;
    return active?.hasCapacity ? active : undefined;
  }

  // A consumer of a higher priority takes over once the active one has nothing unsettled.
  get #activeConsumer(): QueueConsumer | undefined {
    const byPriority = this.rules.type === 'classic' || isAtLeast(this.rules.version, [4, 0]);
    const best = byPriority ? highest(this.#list) : this.#list[0];
    this.#active ??= best;
    const isPassedOn =
      this.rules.type === 'quorum' &&
      byPriority &&
      (best?.priority ?? 0) > (this.#active?.priority ?? 0);
    if (!isPassedOn) return this.#active;
    if (this.#active?.hasUnsettled) return undefined;
    this.#active = best;
    return best;
  }

  // Quorum queues ignore that a consumer is exclusive.
  #refuses({ isExclusive }: QueueConsumer): boolean {
    if (this.rules.type === 'quorum') return false;
    if (this.#list.some((one) => one.isExclusive)) return true;
    return isExclusive && (this.rules.isSingleActive || this.#list.length > 0);
  }
}

/** The first of those with the highest priority. */
function highest(consumers: readonly QueueConsumer[]): QueueConsumer | undefined {
  let found: QueueConsumer | undefined;
  for (const one of consumers) {
    if (found === undefined || one.priority > found.priority) found = one;
  }
  return found;
}
