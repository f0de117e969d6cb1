import { type ConfirmChannel, connect } from 'amqplib';
import type { Kind, NumberedMessage } from '../../integration/fixtures/mixed-load';
import { eventually } from '../../support/eventually';
import type { Random } from './random';

/** How often each kind occurs among a hundred messages. */
const MIX: Readonly<Partial<Record<Kind, number>>> = {
  work: 70,
  retry: 8,
  later: 8,
  drop: 5,
  throw: 4,
  slow: 2,
  invalid: 3,
};

const KINDS = Object.entries(MIX).flatMap(([kind, count]) => Array<Kind>(count).fill(kind as Kind));

const INVALID = Buffer.from('{"n": ');
const OPTIONS = { persistent: true, mandatory: true, contentType: 'application/json' } as const;
const TICK = 10;
/** How many messages may wait for their confirms. */
const WINDOW = 500;

export interface LoadOptions {
  /** The servers of a cluster, or one. */
  readonly urls: readonly string[];
  readonly queue: string;
  /** Messages a second. */
  readonly rate: number;
  readonly random: Random;
  /** How long a handler works at most, in ms. */
  readonly longestWork: number;
}

/** Publishes numbered messages of all kinds to a queue until it is stopped, with confirms. */
export class Load {
  /** The numbers that the broker has confirmed. */
  readonly confirmed = new Set<number>();
  published = 0;
  readonly #pending = new Set<number>();
  /** Those that no queue takes: the broker returns them before it confirms them. */
  readonly #returned = new Set<number>();
  #channel: ConfirmChannel | undefined;
  #close: () => Promise<void> = async () => undefined;
  #stopped = false;
  #connects = -1;
  #running: Promise<void> = Promise.resolve();

  constructor(private readonly options: LoadOptions) {}

  start(): void {
    this.#running = this.#run();
  }

  /** Resolves once so many messages have been published. */
  async reached(count: number, timeoutMs = 60_000): Promise<void> {
    await eventually(
      () => {
        if (this.published < count) throw new Error(`${this.published} of ${count} are published`);
      },
      { timeoutMs },
    );
  }

  /** Ends it, once nothing is waiting for its confirm. A message without one has been returned or may be gone. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    await eventually(() => {
      if (this.#pending.size > 0) throw new Error(`${this.#pending.size} are not confirmed`);
    });
    await this.#close();
  }

  async #run(): Promise<void> {
    const perTick = Math.max(1, Math.round((this.options.rate * TICK) / 1000));
    const pause = (perTick / this.options.rate) * 1000;
    let next = performance.now();
    while (!this.#stopped) {
      if (this.#channel === undefined) await this.#open().catch(() => undefined);
      for (let i = 0; i < perTick && this.#pending.size < WINDOW; i += 1) this.#publish();
      next = Math.max(next + pause, performance.now() - 1000);
      const wait = Math.max(this.#channel === undefined ? 100 : 0, next - performance.now());
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  #publish(): void {
    const channel = this.#channel;
    if (channel === undefined) return;
    const { random, queue, longestWork } = this.options;
    this.published += 1;
    const n = this.published;
    const kind = random.pick(KINDS);
    const message: NumberedMessage = { n, kind, ms: random.integer(0, longestWork) };
    const body = kind === 'invalid' ? INVALID : Buffer.from(JSON.stringify(message));
    this.#pending.add(n);
    const confirmed = (error: unknown): void => {
      this.#pending.delete(n);
      if (!error && !this.#returned.delete(n)) this.confirmed.add(n);
      // A channel that was opened while a queue had no leader can refuse each message from then on.
      if (error && this.#channel === channel) {
        this.#channel = undefined;
        void this.#close();
      }
    };
    try {
      channel.publish('', queue, body, { ...OPTIONS, messageId: String(n) }, confirmed);
    } catch {
      this.#pending.delete(n);
      this.#channel = undefined;
    }
  }

  async #open(): Promise<void> {
    const { urls } = this.options;
    this.#connects += 1;
    const url = urls[this.#connects % urls.length] ?? '';
    const connection = await connect(url, { noDelay: true });
    connection.on('error', () => undefined);
    connection.once('close', () => {
      this.#channel = undefined;
      this.#pending.clear();
    });
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    channel.on('return', ({ properties }) => this.#returned.add(Number(properties.messageId)));
    channel.once('close', () => {
      this.#channel = undefined;
    });
    this.#channel = channel;
    this.#close = () => connection.close().catch(() => undefined);
  }
}
