import type { QueueDeclaration, ServerVersion } from '../amqp/queue-declarations';
import type { Clock } from '../clock';
import type { ExchangeDeclaration } from './exchange-properties';
import { Exchanges } from './exchanges';
import { MemoryQueue } from './memory-queue';
import { type Confirm, MessageRouter } from './message-router';
import { requireServerNamed, requireValidQueue } from './queue-arguments';
import { queuePropertiesOf, requireEquivalent } from './queue-properties';
import type { ExchangeType } from './routing';
import { lockedQueue, noQueue, type RefusedMethod, reservedName } from './server-error';
import type { PublishedMessage, Table } from './stored-message';

/** The user of all clients. */
const USER = 'guest';

/**
 * The server in memory: exchanges, queues and bindings. It refuses what a RabbitMQ server of its version
 * without plugins refuses, with the same reply codes and texts.
 */
export class MemoryServer {
  readonly #exchanges: Exchanges;
  readonly #queues = new Map<string, MemoryQueue>();
  readonly #router: MessageRouter;
  /** The connections that own exclusive queues. */
  readonly #owners = new Map<string, unknown>();
  #heldConfirms: (() => void)[] | undefined;
  #isRefusing = false;
  #generatedNames = 0;

  /** @param version of the server that is imitated. */
  constructor(
    private readonly clock: Clock,
    readonly version: ServerVersion = [4, 3],
  ) {
    this.#exchanges = new Exchanges(version);
    this.#router = new MessageRouter(this.#exchanges, this.#queues, version);
  }

  get queues(): readonly MemoryQueue[] {
    return [...this.#queues.values()];
  }

  /** Whether nothing happens in any queue before time passes or somebody acts. */
  get isSettled(): boolean {
    return this.queues.every(({ isSettled }) => isSettled);
  }

  /** @throws ServerError if it is not valid, or exists with other properties. */
  declareExchange(name: string, declaration: ExchangeType | ExchangeDeclaration): void {
    const given = typeof declaration === 'string' ? { type: declaration } : declaration;
    this.#exchanges.declare(name, given);
  }

  /** @throws ServerError 404 if the exchange does not exist. */
  checkExchange(name: string): void {
    this.#exchanges.check(name);
  }

  /**
   * Declares a queue; without a name the server chooses one. Returns its name.
   * @param owner the connection, for an exclusive queue.
   * @throws ServerError if it is not valid, or exists with other properties.
   */
  declareQueue(name: string, declaration: QueueDeclaration, owner?: unknown): string {
    const properties = queuePropertiesOf(declaration, this.version);
    const present = this.#queues.get(name);
    if (present !== undefined) {
      this.#requireAccess(name, owner, 'QueueDeclare');
      requireEquivalent(name, present.properties, properties, present.rules.comparedArguments);
      if (!present.isQuorum) present.renewExpiry();
      return name;
    }
    if (name.startsWith('amq.')) throw reservedName('queue', name, 'QueueDeclare');
    if (name === '') requireServerNamed(properties);
    const queue = name === '' ? this.#generateName() : name;
    requireValidQueue(queue, properties, this.version);
    const { clock, version } = this;
    const host = {
      clock,
      version,
      deadLetter: (exchange: string, key: string, message: PublishedMessage) =>
        this.#router.deadLetter(exchange, key, message),
      deleteQueue: () => this.deleteQueue(queue),
    };
    this.#queues.set(queue, new MemoryQueue(queue, properties, host));
    if (properties.exclusive) this.#owners.set(queue, owner);
    return queue;
  }

  /**
   * A queue, for whoever looks at it from outside.
   * @throws ServerError 404 if it does not exist.
   */
  queue(name: string): MemoryQueue {
    const queue = this.#queues.get(name);
    if (queue === undefined) throw noQueue(name, 'QueueDeclare');
    return queue;
  }

  /**
   * A queue, for a client.
   * @throws ServerError 404 if it does not exist, 405 if it belongs to another connection.
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
    this.#exchanges.unbindQueue(name);
    queue?.delete();
  }

  /** Deletes the exclusive queues of a connection that has closed. */
  disconnected(owner: unknown): void {
    for (const [name, one] of this.#owners) if (one === owner) this.deleteQueue(name);
  }

  /** @throws ServerError if the exchange or the queue does not exist, or the binding is not valid. */
  bind(queue: string, exchange: string, key: string, args: Table = {}, owner?: unknown): void {
    this.#exchanges.source(exchange, 'QueueBind');
    if (!this.hasQueue(queue)) throw noQueue(queue, 'QueueBind');
    this.#requireAccess(queue, owner, 'QueueBind');
    this.#exchanges.bind(exchange, { destination: queue, toExchange: false, key, arguments: args });
  }

  /** @throws ServerError 404 if an exchange does not exist. */
  bindExchange(destination: string, source: string, key: string, args: Table = {}): void {
    this.#exchanges.bind(source, { destination, toExchange: true, key, arguments: args });
  }

  /**
   * Publishes; returns whether any queue took the message.
   * @param user who publishes.
   * @throws ServerError if the exchange does not exist or the message is refused.
   */
  publish(exchange: string, routingKey: string, message: PublishedMessage, user = USER): boolean {
    return this.#router.route(exchange, routingKey, message, user) === 'confirmed';
  }

  /** Publishes to a queue and waits for the confirm, which a test may hold back or refuse. */
  async confirm(queue: string, message: PublishedMessage): Promise<Confirm> {
    if (this.#isRefusing) return 'refused';
    const confirm = this.#router.route('', queue, message, USER);
    const held = this.#heldConfirms;
    if (held !== undefined) await new Promise<void>((resolve) => held.push(resolve));
    return confirm;
  }

  /** Holds confirms back until the returned function is called. */
  holdConfirms(): () => void {
    const held: (() => void)[] = [];
    this.#heldConfirms = held;
    return () => {
      if (this.#heldConfirms === held) this.#heldConfirms = undefined;
      for (const release of held.splice(0)) release();
    };
  }

  /** Refuses every message that is republished, as a full queue does, or no longer. */
  refuseConfirms(isRefusing: boolean): void {
    this.#isRefusing = isRefusing;
  }

  /** Stops all timers; the queues keep their messages. */
  stop(): void {
    for (const queue of this.queues) queue.stop();
  }

  #generateName(): string {
    this.#generatedNames += 1;
    return `amq.gen-${this.#generatedNames}`;
  }

  #requireAccess(name: string, owner: unknown, method: RefusedMethod): void {
    if (this.#owners.has(name) && this.#owners.get(name) !== owner) throw lockedQueue(name, method);
  }
}
