import { isDeepStrictEqual } from 'node:util';
import type { QueueDeclaration, ServerVersion } from '../broker/queue-declarations';
import type { Clock } from '../clock';
import { MemoryQueue } from './memory-queue';
import { type ExchangeBinding, type ExchangeType, routes } from './routing';
import { ServerError } from './server-error';
import { copyOfTable, type PublishedMessage, type Table } from './stored-message';

interface Exchange {
  readonly type: ExchangeType;
  readonly bindings: ExchangeBinding[];
}

/** How a publish with a confirm ended. */
export type Confirm = 'confirmed' | 'returned' | 'refused';

/**
 * The server in memory: exchanges, queues, bindings. It refuses what RabbitMQ refuses, with the same reply
 * codes: an unknown exchange or queue, a queue declared again with other arguments.
 */
export class MemoryServer {
  readonly #exchanges = new Map<string, Exchange>();
  readonly #queues = new Map<string, MemoryQueue>();
  readonly #listeners = new Set<() => void>();
  #held: (() => void)[] | undefined;
  #refusing = false;
  #generated = 0;

  /** @param version the server that is imitated. */
  constructor(
    private readonly clock: Clock,
    readonly version: ServerVersion = [4, 3],
  ) {
    for (const type of ['direct', 'topic', 'fanout', 'headers'] as const) {
      this.declareExchange(`amq.${type}`, type);
    }
  }

  get queues(): readonly MemoryQueue[] {
    return [...this.#queues.values()];
  }

  /** Whether every queue is settled: nothing moves before time passes or somebody acts. */
  get isSettled(): boolean {
    return this.queues.every(({ isSettled }) => isSettled);
  }

  declareExchange(name: string, type: ExchangeType): void {
    const present = this.#exchanges.get(name);
    if (present !== undefined && present.type !== type) {
      throw new ServerError(
        406,
        `PRECONDITION_FAILED - inequivalent arg 'type' for exchange '${name}': received '${type}' but current is '${present.type}'`,
      );
    }
    if (present === undefined) this.#exchanges.set(name, { type, bindings: [] });
  }

  /** Declares a queue; without a name the server makes one. Gives its name. */
  declareQueue(name: string, declaration: QueueDeclaration): string {
    this.#generated += 1;
    const queue = name === '' ? `amq.gen-${this.#generated}` : name;
    const present = this.#queues.get(queue);
    if (present !== undefined) {
      requireEqual(queue, present.declaration, declaration);
      return queue;
    }
    const { clock, version } = this;
    this.#queues.set(
      queue,
      new MemoryQueue(queue, declaration, {
        clock,
        version,
        publish: (exchange, key, message) => this.#routeDeadLetter(exchange, key, message),
        unused: () => this.deleteQueue(queue),
        changed: () => this.#changed(),
      }),
    );
    for (const other of this.queues) other.retryParked();
    return queue;
  }

  /** @throws ServerError 404 where there is no such queue. */
  queue(name: string): MemoryQueue {
    const queue = this.#queues.get(name);
    if (queue === undefined) throw new ServerError(404, `NOT_FOUND - no queue '${name}'`);
    return queue;
  }

  hasQueue(name: string): boolean {
    return this.#queues.has(name);
  }

  deleteQueue(name: string): void {
    this.#queues.get(name)?.remove();
    this.#queues.delete(name);
    this.#changed();
  }

  bind(queue: string, exchange: string, key: string, args: Table = {}): void {
    this.queue(queue);
    this.#bind(exchange, { destination: queue, toExchange: false, key, arguments: args });
  }

  bindExchange(destination: string, source: string, key: string, args: Table = {}): void {
    this.#exchange(destination);
    this.#bind(source, { destination, toExchange: true, key, arguments: args });
  }

  /**
   * Publishes; says whether any queue took the message.
   * @throws ServerError 404 where there is no such exchange; TypeError for headers that no table holds.
   */
  publish(exchange: string, routingKey: string, message: PublishedMessage): boolean {
    return this.#route(exchange, routingKey, message) === 'confirmed';
  }

  /** Publishes a copy and waits for its confirm, which a test may hold back or refuse. */
  async confirm(queue: string, message: PublishedMessage): Promise<Confirm> {
    if (this.#refusing) return 'refused';
    const confirm = this.#route('', queue, message);
    const held = this.#held;
    if (held !== undefined) await new Promise<void>((resolve) => held.push(resolve));
    return confirm;
  }

  /** Holds confirms back until the returned function is called. */
  holdConfirms(): () => void {
    const held: (() => void)[] = [];
    this.#held = held;
    return () => {
      if (this.#held === held) this.#held = undefined;
      for (const release of held) release();
    };
  }

  /** Refuses every copy, as a full queue does, or no longer. */
  refuseConfirms(refusing: boolean): void {
    this.#refusing = refusing;
  }

  /** Calls `listener` at each change; gives a function that ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends every queue. */
  close(): void {
    for (const queue of this.queues) queue.remove();
    this.#queues.clear();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #exchange(name: string): Exchange {
    const exchange = this.#exchanges.get(name);
    if (exchange === undefined) throw new ServerError(404, `NOT_FOUND - no exchange '${name}'`);
    return exchange;
  }

  #bind(exchange: string, binding: ExchangeBinding): void {
    const { bindings } = this.#exchange(exchange);
    if (!bindings.some((present) => isDeepStrictEqual(present, binding))) bindings.push(binding);
  }

  #route(exchange: string, routingKey: string, message: PublishedMessage): Confirm {
    const sent = { ...message, headers: message.headers && copyOfTable(message.headers) };
    const targets = [...this.#targets(exchange, routingKey, sent.headers)];
    const carbon = [sent.headers?.['CC'], sent.headers?.['BCC']].flat();
    for (const key of carbon) {
      if (typeof key === 'string') targets.push(...this.#targets(exchange, key, sent.headers));
    }
    const unique = [...new Set(targets)].filter((name) => this.#queues.has(name));
    if (unique.length === 0) return 'returned';
    const taken = unique.map((name) => this.queue(name).push(sent, exchange, routingKey));
    return taken.every(Boolean) ? 'confirmed' : 'refused';
  }

  // A dead-letter exchange that does not exist discards without a word.
  #routeDeadLetter(exchange: string, routingKey: string, message: PublishedMessage): boolean {
    if (exchange !== '' && !this.#exchanges.has(exchange)) return false;
    return this.publish(exchange, routingKey, message);
  }

  #targets(
    exchange: string,
    routingKey: string,
    headers: Table | undefined,
    seen: ReadonlySet<string> = new Set(),
  ): readonly string[] {
    if (exchange === '') return [routingKey];
    if (seen.has(exchange)) return [];
    const { type, bindings } = this.#exchange(exchange);
    const through = new Set([...seen, exchange]);
    return bindings
      .filter((binding) => routes(type, binding, routingKey, headers))
      .flatMap(({ destination, toExchange }) =>
        toExchange ? this.#targets(destination, routingKey, headers, through) : [destination],
      );
  }
}

function requireEqual(queue: string, present: QueueDeclaration, wanted: QueueDeclaration): void {
  const [was, is] = [flat(present), flat(wanted)];
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    if (isDeepStrictEqual(was[name], is[name])) continue;
    throw new ServerError(
      406,
      `PRECONDITION_FAILED - inequivalent arg '${name}' for queue '${queue}': received '${String(is[name])}' but current is '${String(was[name])}'`,
    );
  }
}

function flat({ arguments: args, ...options }: QueueDeclaration): Record<string, unknown> {
  const { durable = true, exclusive = false, autoDelete = false, ...rest } = options;
  return { durable, exclusive, autoDelete, ...rest, 'x-queue-type': 'classic', ...args };
}
