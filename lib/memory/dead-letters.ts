import type { ServerVersion } from '../amqp/queue-declarations';
import type { Clock, Timer } from '../clock';
import { deadLettered } from './dead-lettering';
import type { QueueRules } from './queue-rules';
import type { DeathReason, PublishedMessage, StoredMessage } from './stored-message';

/** After how long a dead letter that no queue takes is published again, in ms. */
const RETRY_INTERVAL = 180_000;

/** What dead-lettering needs of the server. */
export interface DeadLetterHost {
  readonly clock: Clock;
  readonly version: ServerVersion;
  /** Publishes a dead letter; returns whether a queue took it, and none refused it. */
  deadLetter(exchange: string, routingKey: string, message: PublishedMessage): boolean;
}

/** The dead-letter route of one queue, with the messages that it holds until the route takes them. */
export class DeadLetters {
  #held: [StoredMessage, DeathReason][] = [];
  #retry: Timer | undefined;

  constructor(
    private readonly queue: string,
    private readonly rules: QueueRules,
    private readonly host: DeadLetterHost,
  ) {}

  /** Dead-letters a message; without a route it is discarded. */
  add(message: StoredMessage, reason: DeathReason): void {
    const { deadLetterExchange, deadLetterRoutingKey, keepsDeadLetters } = this.rules;
    if (deadLetterExchange === undefined) return;
    const { clock, version } = this.host;
    const key = deadLetterRoutingKey ?? message.routingKey;
    const letter = deadLettered(message, {
      queue: this.queue,
      reason,
      now: clock.now(),
      version,
      routingKey: deadLetterRoutingKey,
    });
    const isTaken = this.host.deadLetter(deadLetterExchange, key, letter);
    if (isTaken || !keepsDeadLetters) return;
    this.#held.push([message, reason]);
    this.#retry ??= clock.after(RETRY_INTERVAL, () => this.#tryAgain());
  }

  /** What is held is not published again. */
  stop(): void {
    this.#retry?.cancel();
  }

  #tryAgain(): void {
    this.#retry = undefined;
    const held = this.#held;
    this.#held = [];
    for (const [message, reason] of held) this.add(message, reason);
  }
}
