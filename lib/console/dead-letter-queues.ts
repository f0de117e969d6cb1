import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { BrokerConnection } from '../amqp/connection';
import type { Clock } from '../clock';
import { DeadLetters } from '../dead-letters/dead-letters';
import type { ActiveSubscriptions } from '../lifecycle/active-subscriptions';
import { texts } from '../log/texts';
import { CONSOLE_CLOCK, CONSOLE_CONNECTIONS, CONSOLE_SUBSCRIPTIONS } from './tokens';

/** A dead-letter queue of the application. */
export interface DeadLetterQueue {
  /** Identifies it in the page. */
  readonly key: string;
  readonly name: string;
  readonly connection: string | undefined;
}

/** The dead-letter queues of the subscriptions: the page reaches no other queue. */
@Injectable()
export class DeadLetterQueues implements OnModuleDestroy {
  readonly #services = new Map<string | undefined, DeadLetters>();

  constructor(
    @Inject(CONSOLE_SUBSCRIPTIONS) private readonly active: ActiveSubscriptions,
    @Inject(CONSOLE_CONNECTIONS) private readonly connections: () => readonly BrokerConnection[],
    @Inject(CONSOLE_CLOCK) private readonly clock: Clock,
  ) {}

  find(key: unknown): DeadLetterQueue | undefined {
    const { list } = this.active;
    const queues = list.flatMap(({ methods }) =>
      methods.flatMap(({ subscription: { connection, deadLetter } }) =>
        deadLetter === undefined ? [] : [deadLetterQueue(connection, deadLetter.queue)],
      ),
    );
    return queues.find((one) => one.key === key);
  }

  /** Whether a queue is one from which the application consumes on the same connection. */
  isConsumed({ connection }: DeadLetterQueue, queue: string): boolean {
    return this.active.list.some(
      ({ subscription }) => subscription.queue === queue && subscription.connection === connection,
    );
  }

  /** The service for the broker of a queue. */
  serviceOf({ connection }: DeadLetterQueue): DeadLetters {
    const known = this.#services.get(connection);
    if (known !== undefined) return known;
    const service = DeadLetters.over({
      clock: this.clock,
      open: async () => this.#connectionOf(connection).openQueueClient(),
    });
    this.#services.set(connection, service);
    return service;
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([...this.#services.values()].map((service) => service.close()));
  }

  #connectionOf(name: string | undefined): BrokerConnection {
    const all = this.connections();
    const found = name === undefined ? all[0] : all.find((one) => one.name === name);
    if (found === undefined) throw new Error(texts.connectionNotOpen);
    return found;
  }
}

/** A dead-letter queue with its key. */
export function deadLetterQueue(connection: string | undefined, name: string): DeadLetterQueue {
  return { key: JSON.stringify([connection ?? '', name]), name, connection };
}
