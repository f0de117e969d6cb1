import type { PublishResult } from '../amqp/republish-transport';
import type { Clock, Timer } from '../clock';
import { type Linked, LinkedList } from '../linked-list';

/** How long the reply to a publish is waited for. */
export interface ReplyLimits {
  /** In ms. */
  readonly limitMs: number;
  /** Once it has aborted nobody waits any longer. */
  readonly lost: AbortSignal;
}

/** A publish that the broker has not replied to. */
export class PendingPublish implements Linked<PendingPublish> {
  previous: PendingPublish | undefined;
  next: PendingPublish | undefined;
  /** How it ended. Never rejects. */
  readonly result: Promise<PublishResult>;
  /** Why the broker has returned the message, if it has; its confirm follows. */
  returned: { readonly replyCode: number; readonly replyText: string } | undefined;
  resolve: (result: PublishResult) => void = () => {};

  constructor(
    readonly number: number,
    /** On the monotonic scale. */
    readonly deadline: number,
    readonly lost: AbortSignal,
  ) {
    this.result = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }
}

const UNCONFIRMED: PublishResult = { status: 'unconfirmed' };

/**
 * The publishes of one channel that the broker has not replied to. One timer and one listener on each signal
 * serve them all, since there can be as many as all prefetches together. Each is settled once.
 */
export class PendingPublishes {
  readonly #pending = new LinkedList<PendingPublish>();
  readonly #signals = new Map<AbortSignal, () => void>();
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #number = 0;

  constructor(private readonly clock: Clock) {}

  /** Adds a publish, which ends as `unconfirmed` at one of the limits if it has not ended before. */
  add({ limitMs, lost }: ReplyLimits): PendingPublish {
    this.#number += 1;
    const deadline = this.clock.monotonic() + limitMs;
    const pending = new PendingPublish(this.#number, deadline, lost);
    this.#pending.add(pending);
    if (deadline < this.#timerAt) this.#arm(deadline);
    if (!this.#signals.has(lost)) this.#listen(lost);
    return pending;
  }

  /** The pending publish with this number. */
  get(number: unknown): PendingPublish | undefined {
    for (const pending of this.#pending) if (pending.number === number) return pending;
    return undefined;
  }

  /** Settles a publish, if it is still pending. */
  settle(pending: PendingPublish, result: PublishResult): void {
    if (this.#pending.remove(pending)) pending.resolve(result);
  }

  /** Forgets a publish that was not written. */
  forget(pending: PendingPublish): void {
    this.#pending.remove(pending);
  }

  /** Removes all publishes, timers and listeners, and returns the publishes; they are not settled. */
  end(): readonly PendingPublish[] {
    const pending = [...this.#pending];
    for (const one of pending) this.#pending.remove(one);
    this.#timer?.cancel();
    for (const [signal, aborted] of this.#signals) signal.removeEventListener('abort', aborted);
    this.#signals.clear();
    return pending;
  }

  #arm(deadline: number): void {
    this.#timer?.cancel();
    this.#timerAt = deadline;
    const left = deadline - this.clock.monotonic();
    this.#timer = this.clock.after(left, () => this.#expire(), { background: true });
  }

  #expire(): void {
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.clock.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const pending of this.#pending) {
      if (pending.deadline <= now) this.settle(pending, UNCONFIRMED);
      else next = Math.min(next, pending.deadline);
    }
    if (next < this.#timerAt) this.#arm(next);
  }

  #listen(signal: AbortSignal): void {
    const aborted = (): void => {
      this.#signals.delete(signal);
      for (const pending of this.#pending) {
        if (pending.lost === signal) this.settle(pending, UNCONFIRMED);
      }
    };
    if (signal.aborted) return aborted();
    this.#signals.set(signal, aborted);
    signal.addEventListener('abort', aborted, { once: true });
  }
}
