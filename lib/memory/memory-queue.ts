import { isAtLeast } from '../amqp/queue-declarations';
import type { Timer } from '../clock';
import { type DeadLetterSurroundings, DeadLetters } from './dead-letters';
import { type QueueConsumer, QueueConsumers } from './queue-consumers';
import { type QueueRules, rulesOf } from './queue-rules';
import type { QueueTerms } from './queue-terms';
import { ReadyMessages } from './ready-messages';
import { noQueue } from './server-error';
import {
  type DeathReason,
  type PublishedMessage,
  type ReturnKind,
  type StoredMessage,
  storedMessage,
} from './stored-message';

/** What a queue needs of its server. */
export interface QueueSurroundings extends DeadLetterSurroundings {
  /** The queue is to be deleted: its last consumer has gone, or it has expired. */
  unused(): void;
}

/**
 * A queue as RabbitMQ keeps it: in order, with expiry at its head only, a count of returns on the type
 * `quorum`, a delivery limit there, and a dead-letter route.
 */
export class MemoryQueue {
  readonly #ready = new ReadyMessages();
  readonly #consumers = new QueueConsumers();
  readonly #rules: QueueRules;
  readonly #deadLetters: DeadLetters;
  readonly #delays = new Set<Timer>();
  #unacknowledged = 0;
  #expiry: Timer | undefined;
  #end: Timer | undefined;
  #dispatching = false;
  #gone = false;

  constructor(
    readonly name: string,
    readonly terms: QueueTerms,
    private readonly host: QueueSurroundings,
  ) {
    this.#rules = rulesOf(terms, host.version);
    this.#deadLetters = new DeadLetters(name, this.#rules, host);
    this.used();
  }

  get isQuorum(): boolean {
    return this.#rules.isQuorum;
  }

  /** Messages that wait for a consumer, in order. */
  get ready(): readonly StoredMessage[] {
    return this.#ready.list;
  }

  get unacknowledged(): number {
    return this.#unacknowledged;
  }

  get consumerCount(): number {
    return this.#consumers.count;
  }

  /** Whether nothing more happens here by itself: no message that a consumer could take. */
  get isSettled(): boolean {
    return this.#ready.length === 0 || !this.#consumers.haveRoom;
  }

  /** Takes a message in; `false` where the queue is full and refuses what is published. */
  push(message: PublishedMessage, exchange: string, routingKey: string): boolean {
    const { maxLength, overflow } = this.#rules;
    const now = this.host.clock.monotonic();
    const stored = storedMessage(message, { exchange, routingKey }, this.#rules, now);
    if (this.#ready.length >= maxLength && overflow !== 'drop-head') {
      if (overflow === 'reject-publish-dlx') this.#die(stored, 'maxlen');
      return false;
    }
    this.#ready.add(stored);
    this.#dropOverflow();
    this.#moved();
    return true;
  }

  /** The count of all returns, as servers from 4.3 on hand it out. */
  acquiredHeader({ acquiredCount }: StoredMessage): Record<string, number> {
    const isTold = isAtLeast(this.host.version, [4, 3]) && acquiredCount > 0;
    return isTold ? { 'x-acquired-count': acquiredCount } : {};
  }

  /** @throws ServerError 404 where the queue has been deleted. */
  consume(consumer: QueueConsumer): void {
    if (this.#gone) throw noQueue(this.name, 'BasicConsume');
    this.#end?.cancel();
    this.#consumers.add(consumer);
    this.#moved();
  }

  cancel(consumer: QueueConsumer): void {
    if (!this.#consumers.remove(consumer) || this.#consumers.count > 0) return;
    if (this.terms.autoDelete) this.host.unused();
    else this.used();
  }

  /** A use that puts the queue's own expiry off. A declaration is one on a classic queue only. */
  used(): void {
    this.#end?.cancel();
    const { expires } = this.#rules;
    if (expires === undefined || this.#gone || this.#consumers.count > 0) return;
    this.#end = this.host.clock.after(expires, () => this.host.unused());
  }

  /** A consumer has settled a message, or can take one more. */
  acknowledged(): void {
    this.#unacknowledged -= 1;
    this.#moved();
  }

  rejected(message: StoredMessage): void {
    this.#unacknowledged -= 1;
    this.#die(message, 'rejected');
    this.#moved();
  }

  returned(message: StoredMessage, kind: ReturnKind): void {
    this.#unacknowledged -= 1;
    if (this.#gone) return;
    message.redelivered = true;
    const { isQuorum, limit, countsReleases } = this.#rules;
    if (isQuorum) {
      message.acquiredCount += 1;
      if (kind !== 'requeueUnprocessed' || countsReleases) message.deliveryCount += 1;
    }
    if (isQuorum && message.deliveryCount > limit) this.#die(message, 'delivery_limit');
    else this.#giveBack(message, kind);
    this.#moved();
  }

  /** Ends the queue with what it holds, which no dead-letter route takes; its consumers are told. */
  remove(): void {
    this.#gone = true;
    for (const timer of [this.#expiry, this.#end, ...this.#delays]) timer?.cancel();
    this.#deadLetters.clear();
    this.#ready.clear();
    this.#consumers.cancelAll();
  }

  // Where the server delays what comes back, it waits neither ready nor unacknowledged.
  #giveBack(message: StoredMessage, kind: ReturnKind): void {
    const delay = this.#rules.delayOf(kind, message.deliveryCount);
    if (delay === 0) return this.#restore(message, kind);
    const timer = this.host.clock.after(delay, () => {
      this.#delays.delete(timer);
      this.#restore(message, kind);
      this.#moved();
    });
    this.#delays.add(timer);
  }

  #restore(message: StoredMessage, kind: ReturnKind): void {
    if (!this.isQuorum) this.#ready.restore(message);
    else if (kind === 'lost' || this.#rules.returnsToHead) this.#ready.returnToHead(message);
    else this.#ready.add(message);
    this.#dropOverflow();
  }

  #dropOverflow(): void {
    const { maxLength, overflow } = this.#rules;
    while (overflow === 'drop-head' && this.#ready.length > maxLength) {
      this.#die(this.#ready.shift(), 'maxlen');
    }
  }

  #moved(): void {
    this.#dispatch();
    this.#watchHead();
  }

  // Only the head of a queue expires: what stands behind it waits, whatever its own expiry.
  #watchHead(): void {
    this.#expiry?.cancel();
    this.#expiry = undefined;
    const head = this.#ready.first;
    if (head?.expiresAt === undefined || this.#gone) return;
    const left = head.expiresAt - this.host.clock.monotonic();
    this.#expiry = this.host.clock.after(Math.max(0, left), () => {
      if (this.#ready.first === head) this.#die(this.#ready.shift(), 'expired');
      this.#moved();
    });
  }

  #dispatch(): void {
    if (this.#dispatching || this.isSettled) return;
    this.#dispatching = true;
    this.host.clock.nextTurn(() => {
      this.#dispatching = false;
      // No more than is here now: what comes back meanwhile has its turn later.
      for (let left = this.#ready.length; left > 0 && this.#handOut(); left -= 1) {}
      this.#moved();
    });
  }

  #handOut(): boolean {
    this.#dropExpired();
    const consumer = this.#ready.length > 0 ? this.#consumers.next() : undefined;
    const message = consumer && this.#ready.shift();
    if (message === undefined) return false;
    this.#unacknowledged += 1;
    consumer?.take(message);
    return true;
  }

  // What expires in the very moment in which a consumer is there for it is still handed out.
  #dropExpired(): void {
    const now = this.host.clock.monotonic();
    for (let head = this.#ready.first; head; head = this.#ready.first) {
      if (head.expiresAt === undefined || head.expiresAt >= now) return;
      this.#die(this.#ready.shift(), 'expired');
    }
  }

  #die(message: StoredMessage | undefined, reason: DeathReason): void {
    if (message !== undefined) this.#deadLetters.take(message, reason);
  }
}
