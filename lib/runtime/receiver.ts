import type { BrokerDelivery } from '../broker/port';
import type { Clock } from '../clock';
import { attemptOf } from '../delivery/attempt';
import { DeliveryRecord } from '../delivery/delivery';
import { messages } from '../outcome/messages';
import { retry } from '../outcome/outcome';
import { isThenable } from '../outcome/thenable';
import type { Handling } from '../pipeline/interceptor';
import { decide } from '../settlement/decide';
import type { Run } from '../settlement/run';
import { Settler, type SettlerSurroundings } from '../settlement/settler';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';

/** What the receiver needs from outside. */
export interface ReceiverParts
  extends Pick<
    SettlerSurroundings,
    'clock' | 'log' | 'stopping' | 'backOff' | 'intakeStopped' | 'failFast' | 'observed' | 'settled'
  > {
  readonly subscription: Subscription;
  readonly chain: Handling<DeliveryRecord>;
}

// What a delivery is given that was never handed to its handler.
const UNTRIED = retry();

/**
 * Takes the deliveries of one subscription: each gets its attempt, is looked at for the cap, goes through
 * the chain and is settled. Knows what is in flight. Never throws.
 */
export class Receiver {
  // In the order of arrival: the first is the oldest.
  readonly #inFlight = new Set<Run>();
  readonly #settler: Settler;
  readonly #clock: Clock;
  readonly #log: SubscriptionLog;
  #idle: (() => void)[] = [];
  #taking = true;
  #leftUnsettled = false;

  constructor(private readonly parts: ReceiverParts) {
    this.#clock = parts.clock;
    this.#log = parts.log;
    this.#settler = new Settler(parts.subscription, {
      clock: parts.clock,
      log: parts.log,
      stopping: () => parts.stopping(),
      backOff: () => parts.backOff(),
      intakeStopped: () => parts.intakeStopped(),
      failFast: (run, error) => {
        this.#leftUnsettled = true;
        parts.failFast(run, error);
      },
      observed: () => parts.observed(),
      settled: (settlement) => parts.settled(settlement),
      finished: (run) => this.#finished(run),
    });
  }

  /** How many deliveries are in flight: begun, or being settled. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Whether a delivery was left unsettled on purpose: the channel then closes last. */
  get leftUnsettled(): boolean {
    return this.#leftUnsettled;
  }

  /** How long the oldest delivery has been in flight, in ms; 0 where none is. */
  get oldestAge(): number {
    for (const run of this.#inFlight) return this.#clock.monotonic() - run.startedAt;
    return 0;
  }

  /** How long a delivery has been in flight, in ms; 0 where it is not. */
  ageOf(delivery: BrokerDelivery): number {
    for (const { source, startedAt } of this.#inFlight) {
      if (source === delivery) return this.#clock.monotonic() - startedAt;
    }
    return 0;
  }

  /** Whether deliveries are begun; while they are not, what comes in is released. */
  set taking(taking: boolean) {
    this.#taking = taking;
  }

  delivered(source: BrokerDelivery): void {
    const { subscription, chain } = this.parts;
    const { message, queue, counts } = source;
    const delivery = new DeliveryRecord(
      subscription,
      message,
      queue,
      attemptOf(message, queue, counts),
    );
    const startedAt = this.#clock.monotonic();
    const run: Run = { delivery, source, startedAt, decided: false, over: false };
    this.#inFlight.add(run);
    // Without acknowledgements there is nothing to give back: the message is here or nowhere.
    if (!this.#taking && !subscription.noAck) {
      this.#settler.release(run, UNTRIED);
      return;
    }
    if (subscription.retry !== undefined) {
      const { attempt } = delivery;
      const { acquired } = source;
      const decision = decide({ arrival: true, acquired }, subscription, attempt, counts);
      if (decision.do !== 'run') {
        if (attempt <= subscription.retry.attempts) {
          this.#log.error('acquired', messages.acquiredTooOften(delivery, acquired));
        }
        this.#settler.carryOut(run, UNTRIED, decision);
        return;
      }
    }
    try {
      const outcome = chain(delivery);
      if (!isThenable(outcome)) return this.#settle(run, outcome);
      outcome.then(
        (later) => this.#settle(run, later),
        (error: unknown) => this.#unforeseen(run, error),
      );
    } catch (error) {
      this.#unforeseen(run, error);
    }
  }

  /** Aborts what is in flight: the channel that delivered it is gone. */
  abort(reason: Error): void {
    for (const { delivery } of this.#inFlight) delivery.abort(reason);
  }

  /** Resolves once nothing is in flight. */
  idle(): Promise<void> {
    if (this.#inFlight.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Gives back what is still in flight, decided or not; whatever comes of it later sends nothing. */
  giveUp(): number {
    const left = [...this.#inFlight];
    for (const run of left) {
      run.over = true;
      if (!run.decided) this.#settler.release(run, UNTRIED);
      else if (run.giveBack !== undefined) run.giveBack();
      else this.#finished(run); // It is settled; the work for after it has not ended.
    }
    return left.length;
  }

  #settle(run: Run, outcome: Parameters<Settler['settle']>[1]): void {
    try {
      this.#settler.settle(run, outcome);
    } catch (error) {
      this.#unforeseen(run, error);
    }
  }

  // A defect of this library: the delivery is left to the broker, the loop goes on.
  #unforeseen(run: Run, error: unknown): void {
    this.#log.error('unforeseen', messages.unforeseen, error);
    try {
      if (!this.parts.subscription.noAck) run.source.settle('release', () => undefined);
    } catch {
      // It was settled before the error.
    }
    this.#finished(run);
  }

  #finished(run: Run): void {
    this.#inFlight.delete(run);
    if (this.#inFlight.size > 0) return;
    const waiting = this.#idle;
    this.#idle = [];
    for (const resolve of waiting) resolve();
  }
}
