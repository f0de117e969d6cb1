import { type DeathPlace, deadLettered } from './dead-lettering';
import type { QueueRules } from './queue-rules';
import type { DeathReason, PublishedMessage, StoredMessage } from './stored-message';

/** What the way out of a queue needs of its server. */
export interface DeadLetterSurroundings {
  /** Publishes a dead letter; says whether every queue that it goes to took it, and one did. */
  bury(exchange: string, routingKey: string, message: PublishedMessage): boolean;
  /** Where and when a message dies now. */
  place(): Pick<DeathPlace, 'queue' | 'now' | 'version'>;
}

/** The way out of one queue: its dead-letter route, and what waits until the route leads somewhere. */
export class DeadLetters {
  #parked: [StoredMessage, DeathReason][] = [];

  constructor(
    private readonly rules: QueueRules,
    private readonly surroundings: DeadLetterSurroundings,
  ) {}

  /** Moves a message along the route; without one it is gone. */
  take(message: StoredMessage, reason: DeathReason): void {
    const { deadLetterExchange, deadLetterRoutingKey, keepsDeadLetters } = this.rules;
    if (deadLetterExchange === undefined) return;
    const place = { ...this.surroundings.place(), reason, routingKey: deadLetterRoutingKey };
    const key = deadLetterRoutingKey ?? message.routingKey;
    const isTaken = this.surroundings.bury(deadLetterExchange, key, deadLettered(message, place));
    if (!isTaken && keepsDeadLetters) this.#parked.push([message, reason]);
  }

  /** Tries again to move what had nowhere to go. */
  retry(): void {
    const parked = this.#parked;
    this.#parked = [];
    for (const [message, reason] of parked) this.take(message, reason);
  }

  clear(): void {
    this.#parked = [];
  }
}
