import type { ServerVersion } from '../amqp/queue-declarations';
import { isDeathCycle } from './dead-lettering';
import type { Exchanges } from './exchanges';
import type { MemoryQueue } from './memory-queue';
import { requirePublishable } from './publish-checks';
import { copyOfTable, type PublishedMessage } from './stored-message';

/** The result of a publish: stored in all queues, routed to none, or refused by one. */
export type Confirm = 'confirmed' | 'returned' | 'refused';

/** Routes messages through the exchanges of a server to its queues. */
export class MessageRouter {
  constructor(
    private readonly exchanges: Exchanges,
    private readonly queues: ReadonlyMap<string, MemoryQueue>,
    private readonly version: ServerVersion,
  ) {}

  /**
   * Routes what a client publishes.
   * @throws ServerError if the exchange does not exist or the message is refused.
   */
  route(exchange: string, routingKey: string, message: PublishedMessage, user: string): Confirm {
    this.exchanges.requirePublishable(exchange);
    requirePublishable(message, this.version, user);
    const headers = message.headers && copyOfTable(message.headers);
    const keys = [routingKey, ...keysIn(headers?.['CC']), ...keysIn(headers?.['BCC'])];
    if (headers !== undefined) delete headers['BCC']; // Whoever receives the message does not see it.
    const targets = this.exchanges.targets(exchange, keys, headers);
    return this.#push(targets, exchange, routingKey, { ...message, headers });
  }

  /**
   * Routes what a queue dead-letters; returns whether a queue took it, and none refused it. A dead-letter
   * exchange that does not exist discards silently; so does a cycle.
   */
  deadLetter(exchange: string, routingKey: string, message: PublishedMessage): boolean {
    if (!this.exchanges.has(exchange)) return false;
    const deaths = message.deaths ?? [];
    const keys = [routingKey, ...keysIn(message.headers?.['CC'])];
    const targets = this.exchanges.targets(exchange, keys, message.headers);
    const reached =
      deaths[0]?.reason === 'rejected'
        ? targets
        : targets.filter((queue) => !isDeathCycle(deaths, queue));
    const isCycle = targets.length > 0 && reached.length === 0;
    return isCycle || this.#push(reached, exchange, routingKey, message) === 'confirmed';
  }

  #push(
    targets: readonly string[],
    exchange: string,
    routingKey: string,
    message: PublishedMessage,
  ): Confirm {
    const queues = targets.map((name) => this.queues.get(name)).filter((one) => one !== undefined);
    if (queues.length === 0) return 'returned';
    const taken = queues.map((queue) => queue.push(message, exchange, routingKey));
    return taken.every(Boolean) ? 'confirmed' : 'refused';
  }
}

function keysIn(header: unknown): string[] {
  return Array.isArray(header) ? header.filter((key) => typeof key === 'string') : [];
}
