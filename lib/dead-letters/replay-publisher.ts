import type { QueueClient } from '../amqp/queue-client';
import type { PublishResult } from '../amqp/republish-transport';
import { type WriteLimits, writableMessage } from '../amqp/writable-message';
import type { Clock } from '../clock';
import type { OutgoingMessage } from '../delivery/republish';
import { texts } from '../log/texts';
import { replayMessageOf } from './replay-message';
import type { ReplayFailure } from './results';
import type { Selected, SelectiveRun } from './run';

/** How long a confirm may take, in ms. */
const CONFIRM_LIMIT = 30_000;

type Cause = ReplayFailure['cause'];

interface Written {
  readonly result: Promise<PublishResult>;
}

/**
 * Publishes dead letters, many at once and in their order, and acknowledges each one once RabbitMQ has confirmed
 * it. A target that does not exist or refuses a message is not tried again.
 */
export class ReplayPublisher {
  replayed = 0;
  duplicated = 0;
  readonly #targets = new Map<string, number>();
  readonly #failures = new Map<string, ReplayFailure>();
  readonly #unavailable = new Map<string, Cause>();
  readonly #inFlight = new Set<Promise<void>>();

  constructor(
    private readonly client: QueueClient,
    private readonly run: SelectiveRun,
    private readonly clock: Clock,
  ) {}

  get failed(): number {
    return this.failures.reduce((sum, { count }) => sum + count, 0);
  }

  get failures(): readonly ReplayFailure[] {
    return [...this.#failures.values()];
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
    this.#fail(selected, 'no-origin', undefined, texts.replayNoOrigin);
  }

  /** Publishes a message; resolves once it has been written, or could not be. */
  async publish(selected: Selected, target: string): Promise<void> {
    const known = this.#unavailable.get(target);
    if (known !== undefined) return this.#fail(selected, known, target, textOf(known, target));
    let result: Promise<PublishResult>;
    try {
      ({ result } = await this.#write(selected, target));
    } catch (error) {
      return this.#ended(selected, target, { status: 'unencodable', error });
    }
    const settled = result.then((ended) => {
      this.#inFlight.delete(settled);
      this.#ended(selected, target, ended);
    });
    this.#inFlight.add(settled);
  }

  /** Resolves once nothing is under way any more. */
  async finish(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  async #write({ held, letter }: Selected, target: string): Promise<Written> {
    const { transport } = this.client;
    const { message } = held;
    const made = (limits: WriteLimits): OutgoingMessage => {
      const outgoing = replayMessageOf(message, letter, target, this.clock.now());
      return writableMessage(outgoing, limits, 'whole').message;
    };
    const options = { limitMs: CONFIRM_LIMIT, lost: this.run.over };
    const result = transport.writeAtOnce(target, made, options);
    if (result !== undefined) return { result };
    const written = await transport.write(target, made, { ...options, isAlone: false });
    return { result: written.result.finally(() => written.end()) };
  }

  #ended(selected: Selected, target: string, result: PublishResult): void {
    switch (result.status) {
      case 'confirmed':
        this.count(target);
        return selected.held.acknowledge((isWritten) => {
          if (isWritten) this.replayed += 1;
          else this.duplicated += 1;
        });
      case 'returned':
        return this.#fail(selected, 'target-missing', target, texts.replayTargetMissing(target));
      case 'refused':
        return this.#fail(selected, 'target-refused', target, texts.replayTargetRefused(target));
      case 'unencodable': {
        const text = texts.replayUnencodable(target, result.error);
        return this.#fail(selected, 'unencodable', target, text);
      }
      case 'closed': {
        const text = texts.replayUnconfirmed(target, result.error);
        return this.#fail(selected, 'unconfirmed', target, text);
      }
      case 'unconfirmed': {
        const text = texts.replayUnconfirmed(target, texts.replayNotConfirmedInTime);
        return this.#fail(selected, 'unconfirmed', target, text);
      }
    }
  }

  #fail(selected: Selected, cause: Cause, target: string | undefined, text: string): void {
    this.run.keep(selected);
    const isLasting = cause === 'target-missing' || cause === 'target-refused';
    if (isLasting && target !== undefined) this.#unavailable.set(target, cause);
    const key = JSON.stringify([cause, target, text]);
    const count = (this.#failures.get(key)?.count ?? 0) + 1;
    this.#failures.set(key, { cause, target, count, text });
  }
}

function textOf(cause: Cause, target: string): string {
  return cause === 'target-missing'
    ? texts.replayTargetMissing(target)
    : texts.replayTargetRefused(target);
}
