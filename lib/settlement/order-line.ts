import type { Timer } from '../clock';
import { DeliveryRecord } from '../delivery/delivery-record';
import { texts } from '../log/texts';
import type { Decision } from '../model/decision';
import { failureMarkOf, type Outcome } from '../model/outcome';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { BusiestKey } from '../model/subscription-status';
import { decisionAtTheCap } from './decide';
import type { DeliveryLine } from './delivery-line';
import { HotKeyWatch } from './hot-key-watch';
import type { InFlight } from './in-flight';
import { Lanes } from './lanes';
import { OrderedDelivery } from './ordered-delivery';
import type { ReceiverHost } from './receiver-host';
import { verdictOf } from './verdict';
import { WaitingLine } from './waiting-line';

/** What a receiver does for its ordered deliveries. None throws. */
export interface OrderHost
  extends Pick<
    ReceiverHost,
    'clock' | 'log' | 'prefetch' | 'isStopping' | 'pauseStuck' | 'releases'
  > {
  /** The handling of a delivery begins. */
  begin(inFlight: InFlight): void;
  /** A delivery is no longer in flight, but not settled: it is handled again. */
  remove(inFlight: InFlight, outcome: Outcome): void;
  /** Leaves a delivery to its channel. */
  release(inFlight: InFlight, outcome: Outcome): void;
  carryOut(inFlight: InFlight, outcome: Outcome, decision: Decision): void;
}

/**
 * Deliveries in lanes by key: of each key one at a time. A delivery that is to be retried keeps its lane: it stays
 * unacknowledged and is handled again in this process. While the receiver is closed nothing begins, and what waits
 * stays with its channel until that closes.
 */
export class OrderLine implements DeliveryLine {
  readonly #lanes = new Lanes<InFlight>();
  readonly #line: WaitingLine<InFlight>;
  readonly #waiting = new Set<InFlight>();
  readonly #begun = new Set<InFlight>();
  /** Deliveries that had begun when their channel was lost: they are redelivered. */
  readonly #lost = new WeakSet<InFlight>();
  readonly #timers = new Map<InFlight, Timer>();
  readonly #hotKeys: HotKeyWatch;
  #isOpen = true;
  /** Whether the channel holds deliveries that it has to return before anything begins. */
  #isStale = false;

  constructor(
    private readonly order: NonNullable<SubscriptionMetadata['order']>,
    private readonly subscription: SubscriptionMetadata,
    private readonly host: OrderHost,
  ) {
    this.#hotKeys = new HotKeyWatch({
      ...host,
      queue: subscription.queue,
      after: order.hotKeyAfter,
    });
    this.#line = new WaitingLine(subscription, host.clock, (inFlight) => {
      this.#waiting.delete(inFlight);
      this.#begun.add(inFlight);
      inFlight.firstBegunAt ??= host.clock.monotonic();
      host.begin(inFlight);
    });
  }

  get size(): number {
    return this.#waiting.size;
  }

  get list(): Iterable<InFlight> {
    return this.#waiting;
  }

  add(inFlight: InFlight): void {
    if (!this.#isOpen) this.#isStale = true;
    this.#waiting.add(inFlight);
    const key = this.#keyOf(inFlight.delivery);
    if (key === undefined) return this.#line.add(inFlight);
    inFlight.orderKey = key;
    const isFirst = this.#lanes.enter(key, inFlight);
    this.#hotKeys.changed(this.#loadOf(key));
    if (isFirst) this.#line.add(inFlight);
  }

  /** The key that has the most deliveries; `undefined` if none has any. */
  get busiestKey(): BusiestKey | undefined {
    let busiest: BusiestKey | undefined;
    for (const key of this.#lanes.keys) {
      const load = this.#loadOf(key);
      if (load.deliveries > (busiest?.deliveries ?? 0)) busiest = load;
    }
    return busiest;
  }

  clear(): readonly InFlight[] {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    this.#line.clear();
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
    for (const inFlight of this.#begun) this.#lost.add(inFlight);
    // A handler that still runs keeps its lane, also if its message is redelivered meanwhile.
    this.#lanes.clear((head) => this.#begun.has(head));
    this.#hotKeys.clear();
    this.#isStale = false;
    this.#follow();
    return waiting;
  }

  /** Begins nothing while closed; once something was held back, not until the channel has returned it. */
  set isOpen(isOpen: boolean) {
    this.#isOpen = isOpen;
    if (!isOpen && this.#waiting.size + this.#begun.size > 0) this.#isStale = true;
    this.#follow();
  }

  /** A handler has ended. */
  ended(): void {
    this.#line.ended();
  }

  /** A delivery is settled, or left to its channel: then its lane stays closed. */
  finished(inFlight: InFlight): void {
    this.#begun.delete(inFlight);
    const { orderKey, brokerDelivery } = inFlight;
    if (orderKey === undefined || isLeft(brokerDelivery)) return;
    const next = this.#lanes.leave(orderKey);
    this.#hotKeys.changed(this.#loadOf(orderKey));
    if (next !== undefined) this.#line.add(next);
  }

  /** Whether this takes over a delivery with the outcome of its handler; otherwise it is settled as any other. */
  keeps(inFlight: InFlight, outcome: Outcome): boolean {
    const { delivery, orderKey, settling, firstBegunAt = 0 } = inFlight;
    const isElsewhere = orderKey === undefined || this.#lost.has(inFlight);
    if (isElsewhere || settling || !asksForRetry(outcome)) return false;
    const { host, subscription } = this;
    if (host.isStopping() || !this.#isOpen) {
      host.release(inFlight, outcome);
      return true;
    }
    const verdict = verdictOf(outcome, subscription, delivery.attempt, (value, source) =>
      host.log.write(
        source === 'serverNamed' ? 'delay-ignored' : 'invalid-delay',
        source === 'serverNamed'
          ? texts.noDelayOnServerNamedQueue(delivery)
          : texts.invalidDelay(delivery, source, value),
      ),
    );
    const delayMs = 'delayMs' in verdict ? verdict.delayMs : 0;
    const heldMs = host.clock.monotonic() + delayMs - firstBegunAt;
    const { attempts } = subscription.retry ?? { attempts: Number.POSITIVE_INFINITY };
    const isStuck = delivery.attempt >= attempts || heldMs > this.order.hold;
    if (isStuck && this.order.whenStuck === 'overtake') return false;
    if (host.releases?.(inFlight, outcome)) {
      host.release(inFlight, outcome);
      return true;
    }
    if (isStuck) return this.#stuck(inFlight, outcome);
    const text = texts.result(delivery, texts.heldForRetry(delayMs), failureMarkOf(outcome));
    host.log.write('retrying', text);
    this.#retry(inFlight, outcome, delayMs);
    return true;
  }

  #stuck(inFlight: InFlight, outcome: Outcome): true {
    const { host, order, subscription } = this;
    if (order.whenStuck === 'deadLetter') {
      host.carryOut(inFlight, outcome, decisionAtTheCap(subscription));
      return true;
    }
    const text = texts.result(inFlight.delivery, texts.orderStuck, failureMarkOf(outcome));
    host.log.write('stuck-delivery', text);
    // Closed first: nothing else is to begin.
    host.pauseStuck();
    host.release(inFlight, outcome);
    return true;
  }

  #retry(before: InFlight, outcome: Outcome, delayMs: number): void {
    const { brokerDelivery, delivery, firstBegunAt, arrivedAt, orderKey = '' } = before;
    const { host } = this;
    const next: InFlight = {
      delivery: delivery.nextAttempt(),
      brokerDelivery,
      startedAt: arrivedAt ?? before.startedAt,
      orderKey,
      ...(firstBegunAt !== undefined && { firstBegunAt }),
      settling: false,
      givenUp: false,
      previous: undefined,
      next: undefined,
    };
    this.#begun.delete(before);
    this.#waiting.add(next);
    this.#lanes.replace(orderKey, next);
    host.remove(before, outcome);
    const timer = host.clock.after(delayMs, () => {
      this.#timers.delete(next);
      this.#line.add(next);
    });
    this.#timers.set(next, timer);
  }

  #loadOf(key: string): BusiestKey {
    return { key, deliveries: this.#lanes.sizeOf(key) };
  }

  #keyOf(delivery: DeliveryRecord): string | undefined {
    try {
      const key: unknown = this.order.by(delivery);
      return key === undefined || key === null ? undefined : String(key);
    } catch (error) {
      delivery.keyFailure = { error };
      return undefined;
    }
  }

  #follow(): void {
    if (this.#isOpen && !this.#isStale) this.#line.resume();
    else this.#line.hold();
  }
}

function asksForRetry(outcome: Outcome): boolean {
  const asked: string = failureMarkOf(outcome)?.policy ?? outcome.kind;
  return asked === 'retry' || asked === 'retryAfter';
}

function isLeft(delivery: InFlight['brokerDelivery']): boolean {
  return delivery instanceof OrderedDelivery && delivery.isLeft;
}
