import type { QueueClient } from '../amqp/queue-client';
import { isMessageRefusal, isTooLarge, largestSizeOf } from '../amqp/refusal';
import type { PublishResult, WrittenPublish } from '../amqp/republish-transport';
import { type WriteLimits, writableMessage } from '../amqp/writable-message';
import type { Clock } from '../clock';
import type { OutgoingMessage } from '../delivery/republish';
import { texts } from '../log/texts';
import { type Failure, failureOf, messageRefused, ReplayFailures } from './replay-failures';
import { replayMessageOf } from './replay-message';
import type { ReplayFailure } from './results';
import type { Selected, SelectiveRun } from './run';

/** How long a confirm may take, in ms. */
const CONFIRM_LIMIT = 30_000;

type Closed = Extract<PublishResult, { status: 'closed' }>;

interface Written {
  readonly result: Promise<PublishResult>;
}

/**
 * Publishes dead letters, many at once and in their order, and acknowledges each one once RabbitMQ has confirmed
 * it. What is certain to fail again is not tried: a target that does not exist or refuses a message, and messages
 * that are too large for the server. A message that may have closed the channel of others is published on a
 * connection of its own; the others are published again.
 */
export class ReplayPublisher {
  replayed = 0;
  duplicated = 0;
  readonly #targets = new Map<string, number>();
  readonly #failures = new ReplayFailures();
  readonly #unavailable = new Map<string, Failure>();
  readonly #inFlight = new Set<Promise<void>>();
  /** The largest body that the server accepts, in bytes, as far as it is known, and what the server has replied. */
  #largest: { readonly size: number; readonly error: unknown } | undefined;

  constructor(
    private readonly client: QueueClient,
    private readonly run: SelectiveRun,
    private readonly clock: Clock,
  ) {}

  get failed(): number {
    return this.#failures.count;
  }

  get failures(): readonly ReplayFailure[] {
    return this.#failures.list;
  }

  get targets(): readonly { readonly queue: string; readonly count: number }[] {
    return [...this.#targets]
      .map(([queue, count]) => ({ queue, count }))
      .sort((one, other) => other.count - one.count);
  }

  /** Whether messages for a queue are not published any more. */
  isUnavailable(target: string): boolean {
    return this.#unavailable.has(target);
  }

  /** Counts a message that would be published. */
  count(target: string): void {
    this.#targets.set(target, (this.#targets.get(target) ?? 0) + 1);
  }

  /** A message has no target. */
  withoutOrigin(selected: Selected): void {
    this.#fail(selected, undefined, { cause: 'no-origin', text: texts.replayNoOrigin });
  }

  /**
   * Publishes a message; resolves once it has been written, or could not be. Rejects if there is no connection on
   * which anything can be published.
   */
  async publish(selected: Selected, target: string): Promise<void> {
    const known = this.#knownFailure(selected, target);
    if (known !== undefined) return this.#fail(selected, target, known);
    let written: Written;
    try {
      written = await this.#write(selected, target);
    } catch (error) {
      this.run.keep(selected);
      throw error;
    }
    const settled: Promise<void> = written.result
      .then((ended) => (isInDoubt(ended) ? this.#again(selected, target, ended) : ended))
      .then((ended) => {
        this.#inFlight.delete(settled);
        this.#ended(selected, target, ended);
      });
    this.#inFlight.add(settled);
  }

  /** Resolves once nothing is under way any more. */
  async finish(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  #knownFailure({ held }: Selected, target: string): Failure | undefined {
    return this.#largest !== undefined && held.message.content.length > this.#largest.size
      ? messageRefused(target, this.#largest.error)
      : this.#unavailable.get(target);
  }

  async #write(selected: Selected, target: string, isAlone = false): Promise<Written> {
    const { transport } = this.client;
    const { held, letter } = selected;
    const made = (limits: WriteLimits): OutgoingMessage => {
      const outgoing = replayMessageOf(held.message, letter, target, this.clock.now());
      return writableMessage(outgoing, limits, 'whole').message;
    };
    const options = { limitMs: CONFIRM_LIMIT, lost: this.run.over };
    const result = isAlone ? undefined : transport.writeAtOnce(target, made, options);
    if (result !== undefined) return { result };
    const write = (): Promise<WrittenPublish> =>
      transport.write(target, made, { ...options, isAlone });
    // The connection may just have closed: nothing was written, and the next one is opened.
    const written = await write().catch(write);
    return { result: written.result.finally(() => written.end()) };
  }

  // One of several messages has closed the channel.
  async #again(selected: Selected, target: string, inDoubt: Closed): Promise<PublishResult> {
    const { error } = inDoubt;
    const largest = largestSizeOf(error);
    const { length } = selected.held.message.content;
    if (largest !== undefined) {
      this.#largest = { size: largest, error };
      if (length > largest) return { status: 'closed', error, isAlone: true };
    }
    try {
      const { result } = await this.#write(selected, target, largest === undefined);
      const ended = await result;
      return isInDoubt(ended) ? await (await this.#write(selected, target, true)).result : ended;
    } catch {
      return inDoubt; // Nothing was written.
    }
  }

  #ended(selected: Selected, target: string, result: PublishResult): void {
    if (result.status === 'confirmed') {
      this.count(target);
      return selected.held.acknowledge((isWritten) => {
        if (isWritten) this.replayed += 1;
        else this.duplicated += 1;
      });
    }
    if (result.status === 'closed' && result.isAlone && isTooLarge(result.error)) {
      const { error } = result;
      const { length } = selected.held.message.content;
      this.#largest = { size: largestSizeOf(error) ?? length - 1, error };
    }
    this.#fail(selected, target, failureOf(target, result));
  }

  #fail(selected: Selected, target: string | undefined, failure: Failure): void {
    const { cause } = failure;
    this.#failures.add(selected, { target, ...failure });
    this.run.keep(selected);
    const isLasting = cause === 'target-missing' || cause === 'target-refused';
    if (isLasting && target !== undefined) this.#unavailable.set(target, failure);
  }
}

function isInDoubt(result: PublishResult): result is Closed {
  return result.status === 'closed' && !result.isAlone && isMessageRefusal(result.error);
}
