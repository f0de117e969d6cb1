import type { ReducedMessage, SettleAction } from '../amqp/port';
import { targetQueueOf } from '../amqp/republish-attempts';
import { type OutgoingMessage, reducedMessage } from '../delivery/republish';
import { texts } from '../log/texts';
import { type Decision, pauseOf, type RepublishDecision } from '../model/decision';
import { isAboutTheMessage } from '../model/failure-mark';
import { failureMarkOf, type Outcome, workOf } from '../model/outcome';
import type { SettlementStatus } from '../model/settlement';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { isPoison } from './admit';
import { runAfterWork } from './after-work';
import { decide, decisionUnpublished } from './decide';
import type { InFlight, UnpublishedMessage } from './in-flight';
import { outgoingOf } from './outgoing';
import type { ReceiverHost } from './receiver-host';
import { settleInContext } from './settle-in-context';
import { settlementOf } from './settlement-of';
import { SettlementReport } from './settlement-report';
import { verdictOf } from './verdict';

const REQUEUE: Decision = Object.freeze({ kind: 'requeue' });
const NONE: Decision = Object.freeze({ kind: 'none' });

/**
 * Carries decisions out, each exactly once, and reports what became of them. Never throws, never
 * rejects. A message is published and confirmed before its delivery is acknowledged: a crash in between
 * makes a duplicate, never a loss.
 */
export class Settler {
  readonly #report: SettlementReport;

  /** @param finished called when a delivery is no longer in flight: settled, its work done. */
  constructor(
    private readonly subscription: SubscriptionMetadata,
    private readonly host: ReceiverHost,
    private readonly finished: (inFlight: InFlight) => void,
  ) {
    this.#report = new SettlementReport(subscription, host.log);
  }

  /** Settles a delivery as its first outcome says; if the application is stopping, failures are requeued. */
  settle(inFlight: InFlight, outcome: Outcome, isStopping = this.host.isStopping()): void {
    if (inFlight.settling) return;
    const failure = failureMarkOf(outcome);
    const isStopped = failure && !isAboutTheMessage(failure.cause) && isStopping;
    if (isStopped || this.host.releases?.(inFlight, outcome)) {
      return this.requeue(inFlight, outcome);
    }
    const { delivery, brokerDelivery } = inFlight;
    const verdict = verdictOf(outcome, this.subscription, delivery.attempt, (value, source) =>
      source === 'serverNamed'
        ? this.host.log.write('delay-ignored', texts.noDelayOnServerNamedQueue(delivery))
        : this.host.log.write('invalid-delay', texts.invalidDelay(delivery, source, value)),
    );
    const decision = decide(
      verdict,
      this.subscription,
      delivery.attempt,
      brokerDelivery.countsRedeliveries,
      this.#countsRequeues(inFlight),
      delivery.earlierAttempts(this.host.clock.now()),
    );
    this.carryOut(inFlight, outcome, decision);
  }

  /** Requeues a delivery that was not handled, since its subscription stops or is paused. */
  requeue(inFlight: InFlight, outcome: Outcome): void {
    if (inFlight.settling) return;
    inFlight.settling = true;
    if (this.subscription.noAck) {
      this.#report.lost(inFlight.delivery);
      this.#finish(inFlight, outcome, NONE, 'none');
      return;
    }
    const requeue = this.#requeueOf(inFlight, outcome, REQUEUE);
    if (inFlight.givenUp) return requeue();
    inFlight.requeue = requeue;
    inFlight.isReleased = true;
    // Before the consumer is cancelled, the message would come straight back.
    void this.host.consumerCancelled().then(() => {
      if (inFlight.givenUp) return;
      if (this.host.isStopping() || !this.#countsRequeues(inFlight)) return requeue();
      const { attempt } = inFlight.delivery;
      void this.#republish(inFlight, outcome, { kind: 'republish', attempt, delayMs: 0 });
    });
  }

  // Requeued too often, the message would be ended as a poison message.
  #countsRequeues({ brokerDelivery: { countsRequeues, acquired } }: InFlight): boolean {
    return countsRequeues || isPoison(acquired + 1, this.subscription);
  }

  /** Carries out a decision. */
  carryOut(inFlight: InFlight, outcome: Outcome, decision: Decision): void {
    inFlight.settling = true;
    const pauseMs = pauseOf(decision);
    const error = failureMarkOf(outcome)?.error;
    if (pauseMs !== undefined) {
      void this.#carryOutAfter(this.host.pauseFor(pauseMs, error), inFlight, outcome, decision);
    } else if (decision.kind === 'requeue' && this.host.isPaused()) {
      void this.#carryOutAfter(this.host.consumerCancelled(), inFlight, outcome, decision);
    } else this.#carryOut(inFlight, outcome, decision);
  }

  // Before the consumer is cancelled, the message would come straight back.
  async #carryOutAfter(
    cancelled: Promise<void>,
    inFlight: InFlight,
    outcome: Outcome,
    decision: Decision,
  ): Promise<void> {
    if (decision.kind !== 'none') inFlight.requeue = this.#requeueOf(inFlight, outcome, decision);
    await cancelled;
    if (!inFlight.givenUp) this.#carryOut(inFlight, outcome, decision);
  }

  #carryOut(inFlight: InFlight, outcome: Outcome, decision: Decision): void {
    switch (decision.kind) {
      case 'ack':
      case 'reject':
        return this.#send(inFlight, outcome, decision, decision.kind);
      case 'requeue':
        return this.#send(
          inFlight,
          outcome,
          decision,
          pauseOf(decision) === undefined ? 'requeueFailed' : 'requeueUnprocessed',
        );
      case 'republish':
      case 'deadLetter':
        return void this.#republish(inFlight, outcome, decision);
      case 'leaveUnsettled':
        inFlight.brokerDelivery.leave();
        this.#report.sent(inFlight, outcome, decision);
        this.host.failFast(inFlight, failureMarkOf(outcome)?.error);
        return this.#finish(inFlight, outcome, decision, 'none');
      case 'none':
        this.#report.sent(inFlight, outcome, decision);
        return this.#finish(inFlight, outcome, decision, 'none');
    }
  }

  #requeueOf(inFlight: InFlight, outcome: Outcome, decision: Decision): () => void {
    return () => {
      settleInContext(inFlight, 'requeueUnprocessed', (isWritten) => {
        if (isWritten) this.#report.requeued(inFlight, outcome, this.host.isStopping());
        this.#finish(inFlight, outcome, decision, isWritten ? 'released' : 'abandoned');
      });
    };
  }

  #send(inFlight: InFlight, outcome: Outcome, decision: Decision, action: SettleAction): void {
    settleInContext(inFlight, action, (isWritten) => {
      const { isReleased = false } = inFlight;
      if (isWritten && isReleased) this.#report.requeued(inFlight, outcome, false);
      else if (isWritten) this.#report.sent(inFlight, outcome, decision);
      const sent = isReleased ? 'released' : 'sent';
      this.#finish(inFlight, outcome, decision, isWritten ? sent : 'abandoned');
    });
  }

  async #republish(
    inFlight: InFlight,
    outcome: Outcome,
    decision: RepublishDecision,
  ): Promise<void> {
    const { subscription, host } = this;
    const { brokerDelivery } = inFlight;
    inFlight.requeue = this.#requeueOf(inFlight, outcome, decision);
    const { message, target } = outgoingOf(
      inFlight,
      outcome,
      decision,
      subscription,
      host.clock.now(),
    );
    const queue = targetQueueOf(subscription, brokerDelivery.queue, target);
    const delayMs = target.to === 'retry' ? target.delayMs : 0;
    inFlight.republished = { queue, delayMs, ...message };
    const result = await brokerDelivery.republish(message, target);
    if (inFlight.givenUp) return;
    if (result.status === 'lost') return this.#finish(inFlight, outcome, decision, 'abandoned');
    if (result.status === 'confirmed') {
      host.republished();
      this.#reduced(inFlight, message, result.reduced);
      return this.#send(inFlight, outcome, decision, 'ack');
    }
    const { tries, error } = result;
    const unpublished = { queue, tries, error };
    inFlight.unpublished = unpublished;
    const isUncounted = inFlight.isReleased || pauseOf(decision) !== undefined;
    const instead = isUncounted || decisionUnpublished(decision, error.scope, subscription);
    if (typeof instead === 'object') return this.carryOut(inFlight, outcome, instead);
    await this.#requeueUnpublished(inFlight, outcome, decision, unpublished);
  }

  // Rejected, the delivery would be deleted at a queue's limit; requeued before the consumer is
  // cancelled, it would come straight back.
  async #requeueUnpublished(
    inFlight: InFlight,
    outcome: Outcome,
    decision: RepublishDecision,
    unpublished: UnpublishedMessage,
  ): Promise<void> {
    await this.host.pauseAfterFailure(unpublished.error);
    if (inFlight.givenUp) return;
    settleInContext(inFlight, 'requeueUnprocessed', (isWritten) => {
      if (isWritten) this.#report.republishFailed(inFlight.delivery, outcome, unpublished);
      this.#finish(inFlight, outcome, decision, isWritten ? 'republishFailed' : 'abandoned');
    });
  }

  #reduced(
    inFlight: InFlight,
    message: OutgoingMessage,
    reduced: ReducedMessage | undefined,
  ): void {
    const { republished } = inFlight;
    if (reduced === undefined || republished === undefined) return;
    inFlight.republished = { ...republished, ...reducedMessage(message, reduced.leftOut) };
    this.#report.reduced(inFlight, reduced);
  }

  #finish(
    inFlight: InFlight,
    outcome: Outcome,
    decision: Decision,
    status: SettlementStatus,
  ): void {
    const { host } = this;
    inFlight.requeue = undefined;
    if (status === 'abandoned') this.#report.abandoned(inFlight.delivery, outcome);
    const work = status === 'sent' || decision.kind === 'none' ? workOf(outcome) : [];
    const isCounted = status === 'abandoned' || status === 'republishFailed';
    if (work.length === 0 && !isCounted && !host.isObserved()) {
      return this.finished(inFlight);
    }
    const durationMs = host.clock.monotonic() - inFlight.startedAt;
    const settlement = settlementOf(inFlight, outcome, decision, { status, durationMs });
    host.settled(settlement);
    if (work.length === 0) return this.finished(inFlight);
    const { delivery } = inFlight;
    const failed = (error: unknown): void =>
      host.log.write('after-settlement-failed', texts.andAfterFailed(delivery), error, delivery);
    runAfterWork(work, settlement, failed, () => this.finished(inFlight));
  }
}
