import { isAtLeast, type QueueDeclaration, type ServerVersion } from '../broker/queue-declarations';
import type { Clock, Timer } from '../clock';
import { type DeathReason, deadLettered, isDeathCycle } from './dead-lettering';
import type { PublishedMessage, StoredMessage } from './stored-message';

/** How a message comes back: refused, given back untried, or by the loss of its channel. */
export type ReturnKind = 'requeue' | 'release' | 'lost';

/** Whoever takes messages out of a queue. */
export interface QueueConsumer {
  /** Whether it takes one more now. */
  readonly hasRoom: boolean;
  take(message: StoredMessage): void;
  /** The queue is gone. */
  cancelled(): void;
}

/** What a queue needs of its server. */
export interface QueueSurroundings {
  readonly clock: Clock;
  readonly version: ServerVersion;
  /** Publishes on behalf of the queue; says whether any queue took it. */
  publish(exchange: string, routingKey: string, message: PublishedMessage): boolean;
  /** The last consumer of a queue that is deleted with it has gone. */
  unused(): void;
  /** Something has changed: tests that wait look again. */
  changed(): void;
}

const DEFAULT_DELIVERY_LIMIT = 20;

/**
 * A queue as RabbitMQ keeps it: in order, with expiry at its head only, a count of returns on the type
 * `quorum`, a delivery limit there, and a dead-letter route.
 */
export class MemoryQueue {
  readonly #ready: StoredMessage[] = [];
  readonly #consumers: QueueConsumer[] = [];
  #unacknowledged = 0;
  #places = 0;
  #expiry: Timer | undefined;
  #dispatching = false;
  #parked: StoredMessage[] = [];
  #gone = false;

  constructor(
    readonly name: string,
    readonly declaration: QueueDeclaration,
    private readonly surroundings: QueueSurroundings,
  ) {}

  get isQuorum(): boolean {
    return this.declaration.arguments['x-queue-type'] === 'quorum';
  }

  /** Messages that wait for a consumer, in order. */
  get ready(): readonly StoredMessage[] {
    return this.#ready;
  }

  get unacknowledged(): number {
    return this.#unacknowledged;
  }

  get consumerCount(): number {
    return this.#consumers.length;
  }

  /** Whether nothing more happens here by itself: no message that a consumer could take. */
  get isSettled(): boolean {
    return this.#ready.length === 0 || !this.#consumers.some(({ hasRoom }) => hasRoom);
  }

  /** Takes a message in; `false` where the queue is full and refuses what is published. */
  push(message: PublishedMessage, exchange: string, routingKey: string): boolean {
    const most = this.#argument('x-max-length', this.declaration.maxLength);
    const isFull = most !== undefined && this.#ready.length >= most;
    if (isFull && this.declaration.arguments['x-overflow'] === 'reject-publish') return false;
    this.#places += 1;
    this.#ready.push({
      ...message,
      exchange,
      routingKey,
      place: this.#places,
      expiresAt: this.#expiryOf(message),
      redelivered: false,
      deliveryCount: 0,
      acquiredCount: 0,
    });
    if (isFull) this.#die(this.#ready.shift(), 'maxlen');
    this.#moved();
    return true;
  }

  /** The count of all returns, as servers from 4.3 on hand it out. */
  acquiredHeader({ acquiredCount }: StoredMessage): Record<string, number> {
    const isTold = isAtLeast(this.surroundings.version, [4, 3]) && acquiredCount > 0;
    return isTold ? { 'x-acquired-count': acquiredCount } : {};
  }

  consume(consumer: QueueConsumer): void {
    this.#consumers.push(consumer);
    this.#moved();
  }

  cancel(consumer: QueueConsumer): void {
    const index = this.#consumers.indexOf(consumer);
    if (index < 0) return;
    this.#consumers.splice(index, 1);
    if (this.declaration.autoDelete && this.#consumers.length === 0) this.surroundings.unused();
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
    message.redelivered = true;
    if (this.isQuorum) {
      message.acquiredCount += 1;
      const isCounted = kind !== 'release' || !isAtLeast(this.surroundings.version, [4, 3]);
      if (isCounted) message.deliveryCount += 1;
    }
    if (message.deliveryCount > this.#limit) this.#die(message, 'delivery_limit');
    else this.#restore(message);
    this.#moved();
  }

  /** Takes the first ready message out, as done. */
  take(): StoredMessage | undefined {
    const message = this.#ready.shift();
    this.#moved();
    return message;
  }

  /** Tries again to move what had nowhere to go. */
  retryParked(): void {
    const parked = this.#parked;
    this.#parked = [];
    for (const message of parked) this.#die(message, 'expired');
  }

  /** Ends the queue with what it holds; its consumers are told. */
  remove(): void {
    this.#gone = true;
    this.#expiry?.cancel();
    for (const consumer of [...this.#consumers]) consumer.cancelled();
    this.#consumers.length = 0;
    this.#ready.length = 0;
  }

  get #limit(): number {
    if (!this.isQuorum) return Number.POSITIVE_INFINITY;
    const modern = isAtLeast(this.surroundings.version, [4, 0]);
    const limit = this.#argument('x-delivery-limit', undefined);
    if (limit === undefined) return modern ? DEFAULT_DELIVERY_LIMIT : Number.POSITIVE_INFINITY;
    return limit < 0 && modern ? Number.POSITIVE_INFINITY : limit;
  }

  #argument(name: string, option: number | undefined): number | undefined {
    const value = this.declaration.arguments[name];
    return typeof value === 'number' ? value : option;
  }

  #expiryOf({ properties }: PublishedMessage): number | undefined {
    const own =
      properties['expiration'] === undefined ? undefined : Number(properties['expiration']);
    const ttl = this.#argument('x-message-ttl', this.declaration.messageTtl);
    const least = Math.min(own ?? Number.POSITIVE_INFINITY, ttl ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(least) ? this.surroundings.clock.monotonic() + least : undefined;
  }

  #restore(message: StoredMessage): void {
    const index = this.#ready.findIndex(({ place }) => place > message.place);
    this.#ready.splice(index < 0 ? this.#ready.length : index, 0, message);
  }

  #moved(): void {
    this.#watchHead();
    this.#dispatch();
    this.surroundings.changed();
  }

  // Only the head of a queue expires: what stands behind it waits, whatever its own expiry.
  #watchHead(): void {
    this.#expiry?.cancel();
    this.#expiry = undefined;
    const [head] = this.#ready;
    if (head?.expiresAt === undefined || this.#gone) return;
    const left = head.expiresAt - this.surroundings.clock.monotonic();
    this.#expiry = this.surroundings.clock.after(Math.max(0, left), () => {
      if (this.#ready[0] === head) this.#die(this.#ready.shift(), 'expired');
      this.#moved();
    });
  }

  #dispatch(): void {
    if (this.#dispatching || this.isSettled) return;
    this.#dispatching = true;
    this.surroundings.clock.nextTurn(() => {
      this.#dispatching = false;
      for (;;) {
        const index = this.#consumers.findIndex(({ hasRoom }) => hasRoom);
        const message = index < 0 ? undefined : this.#ready.shift();
        const consumer = this.#consumers[index];
        if (message === undefined || consumer === undefined) break;
        // Round robin: who has got one stands at the end.
        this.#consumers.push(...this.#consumers.splice(index, 1));
        this.#unacknowledged += 1;
        consumer.take(message);
      }
      this.#watchHead();
      this.surroundings.changed();
    });
  }

  #die(message: StoredMessage | undefined, reason: DeathReason): void {
    if (message === undefined) return;
    const exchange =
      this.declaration.arguments['x-dead-letter-exchange'] ?? this.declaration.deadLetterExchange;
    if (typeof exchange !== 'string' || isDeathCycle(message, this.name, reason)) return;
    const key =
      this.declaration.arguments['x-dead-letter-routing-key'] ??
      this.declaration.deadLetterRoutingKey ??
      message.routingKey;
    const moved = deadLettered(message, this.name, reason);
    const isTaken = this.surroundings.publish(exchange, String(key), moved);
    const keeps = this.declaration.arguments['x-dead-letter-strategy'] === 'at-least-once';
    if (!isTaken && keeps) this.#parked.push(message);
  }
}
