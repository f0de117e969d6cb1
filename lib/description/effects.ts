import type { ConsumedSubscription } from '../amqp/consumed-subscription';
import { isAtLeast, type ServerVersion } from '../amqp/queue-declarations';
import { exactDelaysOf } from '../delivery/waiting-delay';
import { durationText } from '../log/format';
import { texts } from '../log/texts';
import { backoffText } from '../model/backoff';
import { deadLetterExchangeOf } from '../model/dead-letter-exchange';
import type { Decision } from '../model/decision';
import { milliseconds } from '../model/duration';
import type { Cause } from '../model/failure-mark';
import type { Outcome } from '../model/outcome';
import {
  type ErrorMatch,
  type FailurePolicy,
  isClass,
  policyName,
  policyText,
} from '../model/policy';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { decide, decisionAtTheCap, type Verdict } from '../settlement/decide';
import type { EffectDescription } from './description';

const MOST_DELAYS = 5;

/**
 * What becomes of a message of a subscription after everything that can happen to it.
 * @param shared the consumer, if methods share it: what no method takes is its matter.
 */
export function effectsOf(
  subscription: SubscriptionMetadata,
  shared: ConsumedSubscription | undefined,
  version: ServerVersion,
): readonly EffectDescription[] {
  const { onError, onPanic, onInvalidPayload, timeout } = subscription;
  const effects = new Effects(subscription);
  const other = timeout === undefined ? 'error' : 'error, timeout';
  return [
    effects.returned('ack(), nothing', { kind: 'ack' }),
    effects.returned('drop()', { kind: 'drop' }),
    effects.returned('retry()', { kind: 'retry' }),
    effects.returned('retryAfter()', { kind: 'retryAfter', delayMs: 1, backoff: true }),
    ...onError.rules.map(({ match, policy }) =>
      effects.failed(`error: ${matchText(match)}`, 'error', policy),
    ),
    effects.failed(
      onError.rules.length === 0 ? other : `${other}: others`,
      'error',
      onError.otherwise,
    ),
    effects.failed('invalid payload', 'invalid-payload', onInvalidPayload),
    effects.failed('panic (a bug)', 'panic', onPanic),
    ...(shared === undefined
      ? []
      : [
          new Effects(shared).failed(
            'taken by no method',
            'unmatched',
            shared.onUnmatched ?? 'drop',
          ),
        ]),
    effects.crash(),
    effects.shutdown(version),
  ];
}

function matchText(match: ErrorMatch): string {
  const matches = Array.isArray(match) ? match : [match];
  return matches.map((one) => (isClass(one) ? one.name : texts.aPredicate)).join(', ');
}

/** The effects of one subscription, as the decisions about its messages have them. */
class Effects {
  readonly #counts: boolean;

  constructor(private readonly subscription: SubscriptionMetadata) {
    this.#counts = subscription.queueType === 'quorum';
  }

  returned(event: string, verdict: Verdict): EffectDescription {
    return { event, ...this.#effectOf(this.#reachable(verdict)) };
  }

  failed(event: string, cause: Cause, policy: FailurePolicy): EffectDescription {
    const shown = { event, policy: policyText(policy) };
    if (typeof policy === 'function') return { ...shown, effect: texts.decidedByFunction };
    const name = policyName(policy);
    if (name === 'failFastOnce') {
      const first = this.#effectOf({ policy: 'failFast', cause }).effect;
      const later = this.#effectOf({ policy: 'drop', cause }).effect;
      return { ...shown, effect: texts.firstThen(first, later) };
    }
    if (name === 'pauseFor') return { ...shown, effect: this.#pauseText(policy) };
    if (name !== 'retryAfter') return { ...shown, ...this.#effectOf({ policy: name, cause }) };
    const delay = typeof policy === 'string' ? undefined : milliseconds(policy.delay);
    const verdict: Verdict = {
      policy: name,
      cause,
      delayMs: delay ?? 1,
      backoff: delay === undefined,
    };
    return { ...shown, ...this.#effectOf(this.#reachable(verdict)) };
  }

  crash(): EffectDescription {
    const { noAck, retry } = this.subscription;
    const event = 'crash, lost connection';
    if (noAck) return { event, effect: texts.lostNoAck };
    if (!this.#counts) return { event, effect: texts.redeliveredUncounted };
    const effect = texts.redeliveredCounted;
    if (retry === undefined) return { event, effect };
    return { event, effect, onLastAttempt: this.#textOf(decisionAtTheCap(this.subscription)) };
  }

  shutdown(version: ServerVersion): EffectDescription {
    const event = 'shutdown before the handler has finished';
    if (this.subscription.noAck) return { event, effect: texts.lostNoAck };
    const isCounted = this.#counts && !isAtLeast(version, [4, 3]);
    return { event, effect: isCounted ? texts.requeuedCounted : texts.requeuedUncounted };
  }

  #pauseText(policy: FailurePolicy): string {
    const { delay } = Object(policy) as Outcome;
    return texts.pausesFor(durationText(milliseconds(delay) ?? 0));
  }

  // A server-named queue has no waiting queues.
  #reachable(verdict: Verdict): Verdict {
    const isNamed = this.subscription.queue !== undefined;
    return isNamed || !('delayMs' in verdict) ? verdict : { ...verdict, delayMs: 0 };
  }

  #effectOf(verdict: Verdict): Pick<EffectDescription, 'effect' | 'onLastAttempt'> {
    const { subscription } = this;
    const attempts = subscription.retry?.attempts ?? 1;
    const isBackoff = 'backoff' in verdict && verdict.backoff === true;
    const at = (attempt: number): string =>
      this.#textOf(decide(verdict, subscription, attempt, this.#counts), isBackoff);
    const [effect, onLastAttempt] = [at(1), at(attempts)];
    return effect === onLastAttempt ? { effect } : { effect, onLastAttempt };
  }

  #textOf(decision: Decision, isBackoff = false): string {
    const { subscription } = this;
    switch (decision.kind) {
      case 'ack':
        return texts.acknowledged;
      case 'requeue':
        if (isBackoff && subscription.retry?.by === 'broker') {
          return texts.delayedByBroker(backoffText(subscription.backoff));
        }
        return this.#counts ? texts.requeuedCounted : texts.requeuedUncounted;
      case 'republish':
        if (decision.delayMs === 0) return texts.republished(0);
        return texts.waits(isBackoff ? this.#delays : durationText(decision.delayMs));
      case 'deadLetter':
        return texts.deadLettered(subscription.deadLetter?.queue ?? '', decision.reason);
      case 'reject':
        return this.#rejected;
      case 'leaveUnsettled':
        return subscription.noAck ? texts.failFastNoAck : texts.failFastRedelivered;
      case 'none':
        return texts.removedNoAck;
    }
  }

  get #rejected(): string {
    const { deadLetter } = this.subscription;
    if (deadLetter?.by === 'broker') return texts.rejectedToRoute(deadLetter.queue);
    const exchange = deadLetterExchangeOf(this.subscription);
    return typeof exchange === 'string'
      ? texts.rejectedToExchange(exchange)
      : texts.rejectedAndDeleted;
  }

  get #delays(): string {
    const delays = [...exactDelaysOf(this.subscription)];
    if (delays.length === 0) return backoffText(this.subscription.backoff);
    const shown = delays.slice(0, MOST_DELAYS).map(durationText).join(', ');
    return delays.length > MOST_DELAYS ? `${shown}, ...` : shown;
  }
}
