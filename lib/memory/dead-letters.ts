import type { ServerVersion } from '../amqp/queue-declarations';
import type { Clock, Timer } from '../clock';
import { deadLettered } from './dead-lettering';
import type { QueueRules } from './queue-rules';
import type { DeathReason, PublishedMessage, StoredMessage } from './stored-message';

/** How long a dead letter that nobody takes waits until it is tried again, in ms. */
const RETRY_INTERVAL = 180_000;

/** What the way out of a queue needs of its server. */
export interface DeadLetterSurroundings {
  readonly clock: Clock;
  readonly version: ServerVersion;
  /** Publishes a dead letter; says whether every queue that it goes to took it, and one did. */
  bury(exchange: string, routingKey: string, message: PublishedMessage): boolean;
}

/** The way out of one queue: its dead-letter route, and what waits until the route leads somewhere. */
export class DeadLetters {
  #parked: [StoredMessage, DeathReason][] = [];
  #retry: Timer | undefined;

  constructor(
    private readonly queue: string,
    private readonly rules: QueueRules,
    private readonly host: DeadLetterSurroundings,
  ) {}

  /** Moves a message along the route; without one it is gone. */
  take(message: StoredMessage, reason: DeathReason): void {
    const { deadLetterExchange, deadLetterRoutingKey, keepsDeadLetters } = this.rules;
    if (deadLetterExchange === undefined) return;
    const { clock, version, bury } = this.host;
    const key = deadLetterRoutingKey ?? message.routingKey;
    const moved = deadLettered(message, {
      queue: this.queue,
      reason,
      now: clock.now(),
      version,
      routingKey: deadLetterRoutingKey,
    });
    if (bury(deadLetterExchange, key, moved) || !keepsDeadLetters) return;
    this.#parked.push([message, reason]);
    this.#retry ??= clock.after(RETRY_INTERVAL, () => this.#tryAgain());
  }

  clear(): void {
    this.#parked = [];
    this.#retry?.cancel();
  }

  #tryAgain(): void {
    this.#retry = undefined;
    const parked = this.#parked;
    this.#parked = [];
    for (const [message, reason] of parked) this.take(message, reason);
  }
}
