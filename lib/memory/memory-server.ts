import type { QueueDeclaration, ServerVersion } from '../amqp/queue-declarations';
import type { Clock } from '../clock';
import { isDeathCycle } from './dead-lettering';
import { Exchanges, type ExchangeTerms, reserved } from './exchanges';
import { MemoryQueue } from './memory-queue';
import { locked, requireEquivalent, requireValid, termsOf } from './queue-terms';
import type { ExchangeType } from './routing';
import { noQueue, type RefusedMethod, ServerError } from './server-error';
import { copyOfTable, type PublishedMessage, type Table } from './stored-message';

/** How a publish with a confirm ended. */
export type Confirm = 'confirmed' | 'returned' | 'refused';

/**
 * The server in memory: exchanges, queues, bindings. It refuses what RabbitMQ refuses, with the same reply
 * codes and texts: an unknown exchange or queue, a queue declared again with other arguments.
 */
export class MemoryServer {
  readonly #exchanges = new Exchanges();
  readonly #queues = new Map<string, MemoryQueue>();
  /** The connections to which exclusive queues belong. */
  readonly #owners = new Map<string, unknown>();
  #held: (() => void)[] | undefined;
  #refusing = false;
  #generated = 0;

  /** @param version the server that is imitated. */
  constructor(
    private readonly clock: Clock,
    readonly version: ServerVersion = [4, 3],
  ) {}

  get queues(): readonly MemoryQueue[] {
    return [...this.#queues.values()];
  }

  /** Whether every queue is settled: nothing moves before time passes or somebody acts. */
  get isSettled(): boolean {
    return this.queues.every(({ isSettled }) => isSettled);
  }

  /** @throws ServerError where it is there with another type. */
  declareExchange(name: string, terms: ExchangeType | ExchangeTerms): void {
    this.#exchanges.declare(name, typeof terms === 'string' ? { type: terms } : terms);
  }

  hasExchange(name: string): boolean {
    return this.#exchanges.has(name);
  }

  /**
   * Declares a queue; without a name the server makes one. Gives its name.
   * @param owner the connection, for an exclusive queue.
   * @throws ServerError where it is there with other terms, or these are none.
   */
  declareQueue(name: string, declaration: QueueDeclaration, owner?: unknown): string {
    const terms = termsOf(declaration);
    const present = this.#queues.get(name);
    if (present !== undefined) {
      this.#requireAccess(name, owner, 'QueueDeclare');
      requireEquivalent(name, present.terms, terms);
      if (!present.isQuorum) present.used();
      return name;
    }
    if (name.startsWith('amq.')) throw reserved('queue', name, 'QueueDeclare');
    const queue = name === '' ? this.#generate() : name;
    requireValid(queue, terms);
    const { clock, version } = this;
    const host = {
      clock,
      version,
      bury: (exchange: string, key: string, message: PublishedMessage) =>
        this.#bury(exchange, key, message),
      unused: () => this.deleteQueue(queue),
    };
    this.#queues.set(queue, new MemoryQueue(queue, terms, host));
    if (terms.exclusive) this.#owners.set(queue, owner);
    return queue;
  }

  /**
   * A queue, for whoever looks at it from outside.
   * @throws ServerError 404 where there is no such queue.
   */
  queue(name: string): MemoryQueue {
    const queue = this.#queues.get(name);
    if (queue === undefined) throw noQueue(name, 'QueueDeclare');
    return queue;
  }

  /**
   * A queue, for a client.
   * @throws ServerError 404 where there is no such queue, 405 where it is another connection's.
   */
  queueFor(name: string, owner: unknown): MemoryQueue {
    this.#requireAccess(name, owner, 'QueueDeclare');
    return this.queue(name);
  }

  hasQueue(name: string): boolean {
    return this.#queues.has(name);
  }

  deleteQueue(name: string): void {
    const queue = this.#queues.get(name);
    this.#queues.delete(name);
    this.#owners.delete(name);
    this.#exchanges.unbind(name);
    queue?.remove();
  }

  /** Deletes the exclusive queues of a connection, which has gone. */
  disconnected(owner: unknown): void {
    for (const [name, one] of this.#owners) if (one === owner) this.deleteQueue(name);
  }

  /** @throws ServerError where there is no such queue or exchange. */
  bind(queue: string, exchange: string, key: string, args: Table = {}, owner?: unknown): void {
    if (!this.hasQueue(queue)) throw noQueue(queue, 'QueueBind');
    this.#requireAccess(queue, owner, 'QueueBind');
    this.#exchanges.bind(exchange, { destination: queue, toExchange: false, key, arguments: args });
  }

  /** @throws ServerError where there is no such exchange. */
  bindExchange(destination: string, source: string, key: string, args: Table = {}): void {
    this.#exchanges.bind(source, { destination, toExchange: true, key, arguments: args });
  }

  /**
   * Publishes; says whether any queue took the message.
   * @throws ServerError 404 where there is no such exchange, 406 for an expiration that is none;
   * TypeError for headers that no table holds.
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
      for (const release of held.splice(0)) release();
    };
  }

  /** Refuses every copy, as a full queue does, or no longer. */
  refuseConfirms(refusing: boolean): void {
    this.#refusing = refusing;
  }

  /** Ends every queue. */
  close(): void {
    for (const { name } of this.queues) this.deleteQueue(name);
  }

  #generate(): string {
    this.#generated += 1;
    return `amq.gen-${this.#generated}`;
  }

  #requireAccess(name: string, owner: unknown, method: RefusedMethod): void {
    if (this.#owners.has(name) && this.#owners.get(name) !== owner) throw locked(name, method);
  }

  #route(exchange: string, routingKey: string, message: PublishedMessage): Confirm {
    const { expiration } = message.properties;
    if (expiration !== undefined && !/^\d+$/.test(String(expiration))) {
      throw new ServerError(406, `invalid expiration '${expiration}'`, 'BasicPublish');
    }
    const headers = message.headers && copyOfTable(message.headers);
    const keys = [routingKey, ...keysIn(headers?.['CC']), ...keysIn(headers?.['BCC'])];
    if (headers !== undefined) delete headers['BCC']; // Nobody who gets the message sees it.
    const targets = this.#exchanges.targets(exchange, keys, headers);
    return this.#deliver(targets, exchange, routingKey, { ...message, headers });
  }

  // A dead-letter exchange that does not exist discards without a word; so does a cycle.
  #bury(exchange: string, routingKey: string, message: PublishedMessage): boolean {
    if (!this.#exchanges.has(exchange)) return false;
    const deaths = message.deaths ?? [];
    const keys = [routingKey, ...keysIn(message.headers?.['CC'])];
    const targets = this.#exchanges.targets(exchange, keys, message.headers);
    const reached =
      deaths[0]?.reason === 'rejected'
        ? targets
        : targets.filter((queue) => !isDeathCycle(deaths, queue));
    const isCycle = targets.length > 0 && reached.length === 0;
    return isCycle || this.#deliver(reached, exchange, routingKey, message) === 'confirmed';
  }

  #deliver(
    targets: readonly string[],
    exchange: string,
    routingKey: string,
    message: PublishedMessage,
  ): Confirm {
    const queues = targets.map((name) => this.#queues.get(name)).filter((one) => one !== undefined);
    if (queues.length === 0) return 'returned';
    const taken = queues.map((queue) => queue.push(message, exchange, routingKey));
    return taken.every(Boolean) ? 'confirmed' : 'refused';
  }
}

function keysIn(header: unknown): string[] {
  return Array.isArray(header) ? header.filter((key) => typeof key === 'string') : [];
}
