import type { CopyTarget } from '../broker/port';
import type { DeliveryRecord } from '../delivery/delivery';
import { durationText } from '../outcome/duration';
import { messages } from '../outcome/messages';
import { failureOf, type Outcome } from '../outcome/outcome';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import type { Decision } from './decide';

/**
 * The lines about single messages. What a policy decided, what is discarded and what could not be done
 * is said; what a handler asked for itself and got is not, but at the level debug.
 */
export class SettlementReport {
  #warnedOfEndlessRetry = false;

  constructor(
    private readonly subscription: Subscription,
    private readonly log: SubscriptionLog,
  ) {}

  decided(delivery: DeliveryRecord, outcome: Outcome, decision: Decision): void {
    const failure = failureOf(outcome);
    if (failure === undefined && decision.do === 'acknowledge') return;
    if (decision.do === 'requeue' && this.subscription.retry === undefined)
      this.#warnOfEndlessRetry();
    const line = (): string =>
      messages.decided({
        delivery,
        attempts: this.subscription.retry?.attempts,
        failure,
        fate: this.#fate(outcome, decision),
      });
    const { error } = failure ?? {};
    if (decision.do === 'leaveUnsettled') return this.log.error('failFast', line, error);
    const isAtTheCap = outcome.kind !== 'drop' && isEnd(decision);
    if (isEnd(decision) && (failure !== undefined || isAtTheCap)) {
      return this.log.error('discarded', line, error);
    }
    if (failure !== undefined || decision.do === 'nothing') return this.log.warn('failed', line);
    this.log.debug('settled', line);
  }

  released(delivery: DeliveryRecord): void {
    this.log.info('released', messages.released(delivery));
  }

  lostWhileStopping(delivery: DeliveryRecord): void {
    this.log.warn('released', messages.lostWhileStopping(delivery));
  }

  abandoned(delivery: DeliveryRecord): void {
    this.log.warn('abandoned', messages.abandoned(delivery));
  }

  copyFailed(delivery: DeliveryRecord, target: CopyTarget): void {
    this.log.error('copyFailed', messages.copyFailed(delivery, this.#targetText(target)));
  }

  #fate(outcome: Outcome, decision: Decision): string {
    switch (decision.do) {
      case 'copyToRetryAddress':
        return messages.fateAgain(decision.delayMs === 0 ? '' : durationText(decision.delayMs));
      case 'copyToDeadLetter':
        return messages.fateDeadLetter(this.#targetText({ to: 'deadLetter' }), decision.reason);
      case 'reject':
        return this.subscription.deadLetter?.by === 'broker'
          ? messages.fateDeadLetter(this.#targetText({ to: 'deadLetter' }), 'rejected')
          : messages.fateRejected;
      case 'nothing':
        return messages.fateNoAck(outcome.kind);
      case 'leaveUnsettled':
        return this.subscription.noAck ? messages.fateNoAckPanic : messages.fates.leaveUnsettled;
      default:
        return messages.fates[decision.do];
    }
  }

  #targetText(target: CopyTarget): string {
    return target.to === 'deadLetter'
      ? (this.subscription.deadLetter?.queue ?? '')
      : (this.subscription.queue ?? '');
  }

  #warnOfEndlessRetry(): void {
    if (this.#warnedOfEndlessRetry) return;
    this.#warnedOfEndlessRetry = true;
    this.log.warn('endlessRetry', messages.endlessRetry);
  }
}

function isEnd(decision: Decision): boolean {
  return decision.do === 'reject' || decision.do === 'copyToDeadLetter';
}
