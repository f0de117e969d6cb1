import { connect } from 'amqplib';
import type { QueueType } from '../../../lib';
import type { MixedLoadSettings } from '../../integration/fixtures/mixed-load';
import { unique } from '../../support/broker';
import { eventually } from '../../support/eventually';
import type { AmqpProxy } from '../../support/proxy';
import type { Management } from '../../support/server/management.mjs';
import { type Account, accountOf } from './account';
import { Ledger } from './ledger';
import { Load } from './load';
import type { Random } from './random';
import { Service } from './service';

const PASSWORD = 'faults';

/** How long a queue delivers nothing before it counts as empty. */
const QUIET_MS = 1_000;

/** What a run under faults is made of. */
export interface FaultRunOptions
  extends Partial<Pick<MixedLoadSettings, 'heartbeatSeconds' | 'republishTimeout' | 'attempts'>> {
  readonly name: string;
  /** The compiled service. */
  readonly path: string;
  /** Where the services connect; a proxy by default. */
  readonly urls?: readonly string[];
  readonly serverUrl: string;
  readonly management: Management;
  readonly proxy: AmqpProxy;
  readonly queueType: QueueType;
  readonly random: Random;
  readonly instances?: number;
  readonly prefetch?: number;
  /** Messages a second. */
  readonly rate?: number;
  /** How long a handler works at most, in ms. */
  readonly longestWork?: number;
  /** How long the services may take to be back after a fault, and to come to rest; 60 s by default. */
  readonly patienceMs?: number;
}

/** Services under a steady mixed load, and what is known of each message. */
export class FaultRun {
  readonly queue: string;
  readonly ledger = new Ledger();
  readonly load: Load;
  readonly services: Service[] = [];
  readonly prefetch: number;
  /** What went wrong with a service: an exit that no fault caused, or a rejection that nobody handled. */
  readonly problems: string[] = [];
  /** The instance that no fault ends. */
  survivor: Service | undefined;
  /** How many faults there were. */
  faults = 0;
  /** How long it took until a service ran a handler again, in ms, one for each fault that was measured. */
  readonly recoveries: number[] = [];
  /** How long shutdowns under load took, in ms. */
  readonly shutdowns: number[] = [];
  #inFlightAtFaults = 0;
  #started = 0;
  #startedAt = 0;
  /** Messages that were removed with their queue, on purpose. */
  readonly #removed = new Set<number>();

  constructor(readonly options: FaultRunOptions) {
    this.queue = unique(options.name);
    this.prefetch = options.prefetch ?? 20;
    const { serverUrl, urls = [serverUrl], random, rate = 200, longestWork = 15 } = options;
    this.load = new Load({ urls, queue: this.queue, rate, random, longestWork });
  }

  /** Starts the services, which declare the queue, then the load. The services have a user of their own. */
  async start(): Promise<void> {
    const { instances = 2, management } = this.options;
    await management.addUser(this.queue, PASSWORD);
    await management.setPermissions(this.queue, {});
    await Promise.all(Array.from({ length: instances }, () => this.startService().ready()));
    this.load.start();
    this.#startedAt = Date.now();
  }

  /** Resolves once the load has run for so long, in ms. */
  async hasRunFor(ms: number): Promise<void> {
    const rest = this.#startedAt + ms - Date.now();
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
  }

  startService(): Service {
    const { path, proxy, queueType, urls = [proxy.url], attempts = 20 } = this.options;
    const { heartbeatSeconds, republishTimeout } = this.options;
    this.#started += 1;
    const settings: MixedLoadSettings = {
      url: urls.map((url) => {
        const own = new URL(url);
        own.username = this.queue;
        own.password = PASSWORD;
        return own.href;
      }),
      queue: this.queue,
      queueType,
      prefetch: this.prefetch,
      attempts,
      ...(heartbeatSeconds !== undefined && { heartbeatSeconds }),
      ...(republishTimeout !== undefined && { republishTimeout }),
    };
    const service = new Service(path, settings, this.#started, this.ledger);
    this.services.push(service);
    return service;
  }

  /** Those that run. */
  get running(): Service[] {
    return this.services.filter(({ hasExited }) => !hasExited);
  }

  /** Notes a fault that so many services feel: what they have in flight can be done twice. */
  fault(affected = this.running.length): void {
    this.faults += 1;
    this.#inFlightAtFaults += affected * this.prefetch;
  }

  /** Waits until a service begins a run, and measures how long that takes. */
  async recovered(service: Service, since = Date.now()): Promise<void> {
    await eventually(
      () => {
        if (service.lastRunAt <= since) throw new Error(`no run again:\n${service.report()}`);
      },
      { timeoutMs: this.#patienceMs },
    );
    this.recoveries.push(service.lastRunAt - since);
  }

  /** What is not done yet may be lost from here on: the queue is about to be deleted on purpose. */
  remove(): void {
    for (let n = 1; n <= this.load.published; n += 1) {
      if (!this.ledger.of(n).some(({ succeeded }) => succeeded)) this.#removed.add(n);
    }
  }

  /** Ends the load, waits until everything has come to rest, ends the services and draws up the account. */
  async finish(): Promise<Account> {
    await this.rest();
    await this.end();
    await this.options.management.deleteUser(this.queue);
    const queues = await this.#queues();
    const isDead = (name: string): boolean => name === `${this.queue}.dead`;
    const queued: number[] = [];
    const deadLettered: number[] = [];
    await Promise.all(
      queues.map(async ({ name }) => {
        const numbers = await this.#take(name);
        (isDead(name) ? deadLettered : queued).push(...numbers);
      }),
    );
    const { ledger, load } = this;
    const confirmed = [...load.confirmed].filter((n) => !this.#removed.has(n));
    const inFlightAtFaults = this.#inFlightAtFaults;
    return accountOf({ confirmed, ledger, queued, deadLettered, inFlightAtFaults });
  }

  /** Ends the load, and waits until nothing is queued or waiting. */
  async rest(): Promise<void> {
    await this.load.stop();
    await this.#rest().catch((error: unknown) => this.problems.push(String(error)));
  }

  /** Ends the services as a deployment does. */
  async end(): Promise<void> {
    const running = this.running;
    for (const service of running) service.signal('SIGTERM');
    for (const service of running) {
      const code = await service.exit;
      if (code !== 0) this.problems.push(`the service ended with ${code}:\n${service.report()}`);
    }
    for (const { unhandled } of this.services) this.problems.push(...unhandled);
  }

  kill(): void {
    for (const service of this.running) service.signal('SIGKILL');
  }

  get #patienceMs(): number {
    return this.options.patienceMs ?? 60_000;
  }

  #queues() {
    const { management } = this.options;
    const isOurs = ({ name }: { name: string }): boolean =>
      name === this.queue || name.startsWith(`${this.queue}.`);
    return management.queues().then((queues) => queues.filter(isOurs));
  }

  async #rest(): Promise<void> {
    for (let quiet = 0; quiet < 2; quiet += 1) {
      await eventually(
        async () => {
          const busy = (await this.#queues()).filter(
            // A node that has just started has no statistics yet.
            ({ name, messages_ready, messages_unacknowledged }) =>
              name !== `${this.queue}.dead` && messages_ready + messages_unacknowledged !== 0,
          );
          if (busy.length > 0) {
            const counts = busy.map(
              (queue) =>
                `${queue.name}: ${queue.messages_ready} ready, ${queue.messages_unacknowledged} unacknowledged`,
            );
            throw new Error(`not at rest: ${counts.join('; ')}`);
          }
        },
        { timeoutMs: this.#patienceMs, everyMs: 250 },
      );
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }

  async #take(queue: string): Promise<number[]> {
    const connection = await connect(this.options.serverUrl, { noDelay: true });
    try {
      const channel = await connection.createChannel();
      const numbers: number[] = [];
      let lastAt = Date.now();
      await channel.consume(
        queue,
        (message) => {
          lastAt = Date.now();
          if (message) numbers.push(Number(message.properties.messageId));
        },
        { noAck: true },
      );
      // The count of a queue that was just recovered can be too low: the queue is empty once it delivers nothing.
      await eventually(async () => {
        const { messageCount } = await channel.checkQueue(queue);
        const isQuiet = Date.now() - lastAt >= QUIET_MS;
        if (messageCount > 0 || !isQuiet) throw new Error(`queue "${queue}" still delivers`);
      });
      return numbers;
    } finally {
      await connection.close();
    }
  }
}
