import { type DeadLetterHost, DeadLetters } from './dead-letters';
import { requireValidConsumer } from './queue-arguments';
import { type QueueConsumer, QueueConsumers } from './queue-consumers';
import { QueueLimits } from './queue-limits';
import type { QueueProperties } from './queue-properties';
import { type QueueRules, rulesOf } from './queue-rules';
import { QueueTimers } from './queue-timers';
import { ReadyMessages } from './ready-messages';
import { noQueue } from './server-error';
import {
  type DeathReason,
  type PublishedMessage,
  type ReturnKind,
  type StoredMessage,
  storedMessage,
  type Table,
} from './stored-message';

/** What a queue needs of its server. */
export interface QueueHost extends DeadLetterHost {
  /** Deletes the queue: its last consumer was cancelled, or it has expired. */
  deleteQueue(): void;
}

/**
 * A queue as RabbitMQ keeps it: ordered, with expiry at its head only, with length limits, a dead-letter
 * route and, on a quorum queue, a delivery count and limit.
 */
export class MemoryQueue {
  readonly rules: QueueRules;
  readonly #ready: ReadyMessages;
  readonly #consumers: QueueConsumers;
  readonly #limits: QueueLimits;
  readonly #deadLetters: DeadLetters;
  readonly #timers: QueueTimers;
  #unacknowledged = 0;
  #isDispatching = false;
  #isDeleted = false;

  constructor(
    readonly name: string,
    readonly properties: QueueProperties,
    private readonly host: QueueHost,
  ) {
    const { version, clock } = host;
    this.rules = rulesOf(properties, version);
    const { type, sharesPriorities } = this.rules;
    const isSingleActive = properties.arguments['x-single-active-consumer'] === true;
    this.#ready = new ReadyMessages(sharesPriorities);
    this.#consumers = new QueueConsumers(name, { type, isSingleActive, version });
    this.#limits = new QueueLimits(this.rules);
    this.#deadLetters = new DeadLetters(name, this.rules, host);
    this.#timers = new QueueTimers(clock);
    this.renewExpiry();
  }

  get isQuorum(): boolean {
    return this.rules.type === 'quorum';
  }

  /** The messages that wait for a consumer, in order. */
  get ready(): readonly StoredMessage[] {
    return this.#ready.list;
  }

  get unacknowledged(): number {
    return this.#unacknowledged;
  }

  get consumerCount(): number {
    return this.#consumers.count;
  }

  /** Whether nothing happens here before time passes or somebody acts. */
  get isSettled(): boolean {
    return this.#ready.length === 0 || this.#isDeleted || !this.#consumers.haveCapacity;
  }

  /** Stores a message; returns whether the queue took it. */
  push(message: PublishedMessage, exchange: string, routingKey: string): boolean {
    const now = this.host.clock.monotonic();
    const stored = storedMessage(message, { exchange, routingKey }, this.rules, now);
    if (this.#limits.refuses(stored, this.#length)) {
      if (this.rules.overflow === 'reject-publish-dlx') this.#deadLetter(stored, 'maxlen');
      return false;
    }
    this.#ready.add(stored);
    this.#dropOverflow();
    this.#changed();
    return true;
  }

  /** @throws ServerError if the queue was deleted, or does not take the consumer or its arguments. */
  consume(consumer: QueueConsumer, args: Table = {}): void {
    if (this.#isDeleted) throw noQueue(this.name, 'BasicConsume');
    requireValidConsumer(this.name, this.rules.type, args, this.host.version);
    this.#consumers.add(consumer);
    this.#timers.watchUse(undefined, () => undefined);
    this.#changed();
  }

  cancel(consumer: QueueConsumer): void {
    if (!this.#consumers.remove(consumer)) return;
    if (this.#consumers.count > 0) this.#changed();
    else if (this.properties.autoDelete) this.host.deleteQueue();
    else this.renewExpiry();
  }

  /** Starts the time of `x-expires` anew. Declaring a queue does, on a classic queue only. */
  renewExpiry(): void {
    if (this.#isDeleted || this.#consumers.count > 0) return;
    this.#timers.watchUse(this.rules.expires, () => this.host.deleteQueue());
  }

  /** A message was acknowledged, or delivered to a consumer that does not acknowledge. */
  acknowledged(): void {
    this.#unacknowledged -= 1;
    this.#changed();
  }

  rejected(message: StoredMessage): void {
    this.#unacknowledged -= 1;
    this.#deadLetter(message, 'rejected');
    this.#changed();
  }

  returned(message: StoredMessage, kind: ReturnKind): void {
    this.#unacknowledged -= 1;
    if (this.#isDeleted) return;
    message.redelivered = true;
    const { limit, counts } = this.rules;
    if (this.isQuorum) {
      message.acquiredCount += 1;
      if (counts(kind)) message.deliveryCount += 1;
    }
    if (this.isQuorum && message.deliveryCount > limit) {
      this.#deadLetter(message, 'delivery_limit');
      this.#changed();
    } else this.#requeue(message, kind);
  }

  /** Deletes the queue with its messages, which are not dead-lettered, and cancels its consumers. */
  delete(): void {
    this.stop();
    this.#ready.clear();
    this.#consumers.cancelAll();
  }

  /** Stops all that the queue does by itself; its messages stay. */
  stop(): void {
    this.#isDeleted = true;
    this.#timers.stop();
    this.#deadLetters.stop();
  }

  get #length(): { readonly messages: number; readonly bytes: number } {
    return { messages: this.#ready.length, bytes: this.#ready.bytes };
  }

  // While the server delays a returned message, it is neither ready nor unacknowledged.
  #requeue(message: StoredMessage, kind: ReturnKind): void {
    this.#timers.delay(this.rules.delayOf(kind, message.deliveryCount), () => {
      this.#putBack(message, kind);
      this.#changed();
    });
  }

  #putBack(message: StoredMessage, kind: ReturnKind): void {
    const toHead = kind === 'channelClosed' || this.rules.returnsToHead;
    if (!this.isQuorum) this.#ready.putBack(message);
    else if (toHead) this.#ready.returnToHead(message);
    else this.#ready.add(message);
    this.#dropOverflow();
  }

  #dropOverflow(): void {
    while (this.#limits.mustDrop(this.#length)) this.#deadLetter(this.#ready.shift(), 'maxlen');
  }

  #changed(): void {
    this.#limits.changed(this.#length);
    this.#dispatch();
    this.#watchHead();
  }

  // A message expires at the head of its queue only: behind it, it waits, whatever its own expiration.
  #watchHead(): void {
    const head = this.#isDeleted ? undefined : this.#ready.first;
    this.#timers.watchHead(head?.expiresAt, () => {
      if (this.#ready.first === head) this.#deadLetter(this.#ready.shift(), 'expired');
      this.#changed();
    });
  }

  #dispatch(): void {
    if (this.#isDispatching || this.isSettled) return;
    this.#isDispatching = true;
    this.host.clock.nextTurn(() => {
      this.#isDispatching = false;
      // No more than are ready now: what returns meanwhile has its turn later.
      for (let left = this.#ready.length; left > 0 && this.#deliverNext(); left -= 1) {}
      this.#changed();
    });
  }

  #deliverNext(): boolean {
    this.#dropExpired();
    const consumer = this.isSettled ? undefined : this.#consumers.next();
    const message = consumer && this.#ready.shift();
    if (message === undefined) return false;
    this.#unacknowledged += 1;
    consumer?.deliver(message);
    return true;
  }

  // What expires at the moment at which a consumer has capacity is still delivered.
  #dropExpired(): void {
    const now = this.host.clock.monotonic();
    for (let head = this.#ready.first; head; head = this.#ready.first) {
      if (head.expiresAt === undefined || head.expiresAt >= now) return;
      this.#deadLetter(this.#ready.shift(), 'expired');
    }
  }

  #deadLetter(message: StoredMessage | undefined, reason: DeathReason): void {
    if (message !== undefined) this.#deadLetters.add(message, reason);
  }
}
