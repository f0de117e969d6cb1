import type { ReducedMessage } from '../amqp/port';
import type { DeliveryRecord } from '../delivery/delivery-record';
import type { LogKind } from '../log/kinds';
import type { LineFacts, SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import { deadLetterExchangeOf } from '../model/dead-letter-exchange';
import { type Decision, pauseOf } from '../model/decision';
import type { Cause } from '../model/failure-mark';
import { failureMarkOf, type Outcome } from '../model/outcome';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { InFlight, UnpublishedMessage } from './in-flight';

/** One line: its kind and what happened to the message. */
type Result = readonly [kind: LogKind, text: string];

/**
 * Logs what became of each message, after it happened: decisions of policies, lost messages and
 * failures; outcomes that the handler asked for are logged at debug level.
 */
export class SettlementReport {
  #warnedOfEndlessRetry = false;

  constructor(
    private readonly subscription: SubscriptionMetadata,
    private readonly log: SubscriptionLog,
  ) {}

  /** The decision was carried out. */
  sent(inFlight: InFlight, outcome: Outcome, decision: Decision): void {
    const { delivery, unpublished } = inFlight;
    const failure = failureMarkOf(outcome);
    if (failure === undefined && decision.kind === 'ack') return;
    const isPause = pauseOf(decision) !== undefined;
    const isRetry = !isPause && (decision.kind === 'requeue' || decision.kind === 'republish');
    if (isRetry && this.subscription.retry === undefined) this.#warnOfEndlessRetry(outcome);
    const [kind, result] = this.#resultOf(inFlight, outcome, decision);
    const line = (): string => texts.result(delivery, result, failure);
    const isAtTheCap = outcome.kind !== 'drop' && isEnd(decision);
    const isAskedFor = failure === undefined && !isAtTheCap && decision.kind !== 'none';
    const facts = { ...factsOf(delivery), ...decisionFacts(decision, failure?.cause) };
    if (isAskedFor && unpublished === undefined) this.log.debug(kind, line, facts);
    else this.log.write(kind, line, failure?.error, facts);
  }

  /** The message was requeued without an attempt, since its subscription stops or is paused. */
  requeued({ delivery }: InFlight, outcome: Outcome, isStopping: boolean): void {
    const result = isStopping ? texts.requeuedOnShutdown : texts.requeuedWhilePaused;
    const failure = isStopping ? undefined : failureMarkOf(outcome);
    this.log.write('requeued', () => texts.result(delivery, result, failure), undefined, delivery);
  }

  /** A `noAck` message was not handled, since its subscription stops. */
  lost(delivery: DeliveryRecord): void {
    this.log.write(
      'no-ack',
      texts.result(delivery, texts.lostOnShutdown, undefined),
      undefined,
      delivery,
    );
  }

  /** The channel closed before the decision could be sent. */
  abandoned(delivery: DeliveryRecord, outcome: Outcome): void {
    const failure = failureMarkOf(outcome);
    this.log.write(
      'not-acknowledged',
      texts.result(delivery, texts.abandoned, failure),
      undefined,
      delivery,
    );
  }

  /** The message could not be published and was requeued. */
  republishFailed(
    delivery: DeliveryRecord,
    outcome: Outcome,
    { queue, tries, error }: UnpublishedMessage,
  ): void {
    const result = texts.republishFailed(queue, tries, error);
    const line = texts.result(delivery, result, failureMarkOf(outcome));
    this.log.write('republish-failed', line, error, delivery);
  }

  /** The message was published without some of its properties or headers. */
  reduced({ delivery, republished }: InFlight, { leftOut, refusal }: ReducedMessage): void {
    const headers = leftOut.headers.map((name) => `header "${name}"`);
    const names = [...leftOut.properties, ...headers];
    const result = texts.publishedWithout(republished?.queue ?? '', names, refusal);
    this.log.write(
      'headers-dropped',
      texts.result(delivery, result, undefined),
      undefined,
      delivery,
    );
  }

  #resultOf({ unpublished }: InFlight, outcome: Outcome, decision: Decision): Result {
    const [kind, result] = this.#decisionOf(outcome, decision);
    if (unpublished === undefined) return [kind, result];
    return [kind, texts.unpublishable(unpublished.queue, unpublished.error, result)];
  }

  #decisionOf(outcome: Outcome, decision: Decision): Result {
    const pauseMs = pauseOf(decision);
    if (pauseMs !== undefined && decision.kind !== 'none') {
      return ['requeued', texts.requeuedForPause(pauseMs)];
    }
    switch (decision.kind) {
      case 'ack':
        return ['skipped', texts.skipped];
      case 'requeue':
        return ['retrying', texts.requeued];
      case 'republish':
        return ['retrying', texts.republished(decision.delayMs)];
      case 'deadLetter':
        return ['dead-lettered', texts.deadLettered(this.#deadLetterQueue, decision.reason)];
      case 'reject':
        return this.#rejected;
      case 'leaveUnsettled':
        return ['fail-fast', this.subscription.noAck ? texts.failFastNoAck : texts.failFast];
      case 'none':
        return ['no-ack', texts.noAck(outcome.kind)];
    }
  }

  get #rejected(): Result {
    const { deadLetter } = this.subscription;
    if (deadLetter?.by === 'broker') {
      return ['dead-lettered', texts.rejectedToRoute(deadLetter.queue)];
    }
    const exchange = deadLetterExchangeOf(this.subscription);
    if (typeof exchange === 'string') return ['rejected', texts.rejectedToExchange(exchange)];
    return ['rejected', deadLetter === undefined ? texts.rejected : texts.rejectedUnpublished];
  }

  get #deadLetterQueue(): string {
    return this.subscription.deadLetter?.queue ?? '';
  }

  #warnOfEndlessRetry({ kind }: Outcome): void {
    if (this.#warnedOfEndlessRetry) return;
    this.#warnedOfEndlessRetry = true;
    this.log.write('endless-retry', texts.endlessRetry(kind));
  }
}

function isEnd(decision: Decision): boolean {
  return decision.kind === 'reject' || decision.kind === 'deadLetter';
}

// Not the delivery itself: its properties are getters of its class.
function factsOf({ queue, messageId, attempt, subscription }: DeliveryRecord): LineFacts {
  return { queue, messageId, attempt, subscription };
}

function decisionFacts(decision: Decision, cause: Cause | undefined): Partial<LineFacts> {
  const reason = decision.kind === 'deadLetter' ? decision.reason : cause;
  return { decision: decision.kind, ...(reason !== undefined && { reason }) };
}
