import { copyQueueOf } from '../broker/copy-tries';
import type { CopyTarget, Frame } from '../broker/port';
import type { Clock } from '../clock';
import { type Copy, deadLetterOf, retryCopyOf } from '../delivery/copy';
import { messages } from '../outcome/messages';
import { failureOf, type Outcome, workOf } from '../outcome/outcome';
import { isThenable } from '../outcome/thenable';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import { type Decision, decide } from './decide';
import { SettlementReport } from './report';
import type { Run } from './run';
import type { Settlement, SettlementResult } from './settlement';
import { verdictOf } from './verdict';

/** What the settler asks of and tells its surroundings. */
export interface SettlerSurroundings {
  readonly clock: Clock;
  readonly log: SubscriptionLog;
  /** Whether the service is stopping: failures are then released instead of settled. */
  stopping(): boolean;
  /** Stops the intake after a failed copy; resolves once it has stopped. */
  backOff(): Promise<void>;
  /** Resolves once an intake that is being stopped has stopped. */
  intakeStopped(): Promise<void>;
  /** A delivery is left unsettled on purpose: the service is to stop. */
  failFast(run: Run, error: unknown): void;
  /** Whether anybody listens to settlements. */
  observed(): boolean;
  /** Called where somebody listens, and for each delivery whose channel was gone. */
  settled(settlement: Settlement): void;
  /** The delivery is no longer in flight: settled, its work done. */
  finished(run: Run): void;
}

/**
 * Carries decisions out, each exactly once, and says what became of them. Never throws, never rejects.
 * A copy is sent and confirmed before its original is acknowledged: a crash in between makes a
 * duplicate, never a loss.
 */
export class Settler {
  readonly #report: SettlementReport;

  constructor(
    private readonly subscription: Subscription,
    private readonly surroundings: SettlerSurroundings,
  ) {
    this.#report = new SettlementReport(subscription, surroundings.log);
  }

  /** Settles a delivery as the outcome says. A second outcome of one delivery changes nothing. */
  settle(run: Run, outcome: Outcome): void {
    if (run.decided) return;
    const failure = failureOf(outcome);
    if (failure && failure.cause !== 'undecodable' && this.surroundings.stopping()) {
      this.release(run, outcome);
      return;
    }
    const { attempt } = run.delivery;
    const { log } = this.surroundings;
    const verdict = verdictOf(outcome, this.subscription, attempt, (value, source) =>
      source === 'serverNamed'
        ? log.warn('delay', messages.noDelayOnServerNamedQueue)
        : log.error('delay', messages.unusableDelay(source, value)),
    );
    this.carryOut(run, outcome, decide(verdict, this.subscription, attempt, run.source.counts));
  }

  /** Gives a delivery back untried, since the service is stopping. */
  release(run: Run, outcome: Outcome): void {
    if (run.decided) return;
    run.decided = true;
    if (this.subscription.noAck) {
      this.#report.lostWhileStopping(run.delivery);
      this.#finish(run, outcome, { do: 'nothing' }, 'none');
      return;
    }
    const giveBack = this.#giveBack(run, outcome, { do: 'requeue' });
    if (run.over) return giveBack();
    run.giveBack = giveBack;
    // Before the intake has stopped, it would come straight back.
    void this.surroundings.intakeStopped().then(() => {
      if (!run.over) giveBack();
    });
  }

  /** Carries out a decision. */
  carryOut(run: Run, outcome: Outcome, decision: Decision): void {
    run.decided = true;
    this.#report.decided(run.delivery, outcome, decision);
    switch (decision.do) {
      case 'acknowledge':
      case 'reject':
      case 'requeue':
        return this.#send(run, outcome, decision, decision.do);
      case 'copyToRetryAddress':
      case 'copyToDeadLetter':
        return void this.#copy(run, outcome, decision);
      case 'leaveUnsettled':
        run.source.leave();
        this.surroundings.failFast(run, failureOf(outcome)?.error);
        return this.#finish(run, outcome, decision, 'none');
      default:
        return this.#finish(run, outcome, decision, 'none');
    }
  }

  #giveBack(run: Run, outcome: Outcome, decision: Decision): () => void {
    return () => {
      this.#report.released(run.delivery);
      run.source.settle('release', (written) =>
        this.#finish(run, outcome, decision, written ? 'released' : 'abandoned'),
      );
    };
  }

  #send(run: Run, outcome: Outcome, decision: Decision, frame: Frame): void {
    run.source.settle(frame, (written) =>
      this.#finish(run, outcome, decision, written ? 'sent' : 'abandoned'),
    );
  }

  async #copy(
    run: Run,
    outcome: Outcome,
    decision: Extract<Decision, { do: 'copyToRetryAddress' | 'copyToDeadLetter' }>,
  ): Promise<void> {
    run.giveBack = this.#giveBack(run, outcome, decision);
    const [copy, target] = this.#copyFor(run, outcome, decision);
    const queue = copyQueueOf(this.subscription, run.source.queue, target);
    run.copy = { queue, delayMs: target.to === 'retryAddress' ? target.delayMs : 0, ...copy };
    const result = await run.source.copy(copy, target);
    if (run.over) return;
    if (result === 'confirmed') return this.#send(run, outcome, decision, 'acknowledge');
    if (result === 'lost') return this.#finish(run, outcome, decision, 'abandoned');
    // Rejected, the original would be deleted at a queue's limit; released before the intake has
    // stopped, it would come straight back.
    this.#report.copyFailed(run.delivery, target);
    await this.surroundings.backOff();
    if (run.over) return;
    run.source.settle('release', (written) =>
      this.#finish(run, outcome, decision, written ? 'copyFailed' : 'abandoned'),
    );
  }

  #copyFor(
    { delivery }: Run,
    outcome: Outcome,
    decision: Extract<Decision, { do: 'copyToRetryAddress' | 'copyToDeadLetter' }>,
  ): [Copy, CopyTarget] {
    const now = this.surroundings.clock.now();
    if (decision.do === 'copyToRetryAddress') {
      const { attempt, delayMs } = decision;
      return [retryCopyOf(delivery, attempt, now), { to: 'retryAddress', delayMs }];
    }
    const diagnosis = {
      reason: decision.reason,
      error: failureOf(outcome)?.error,
      text: outcome.reason,
      withStack: this.subscription.deadLetter?.stack ?? false,
    };
    return [deadLetterOf(delivery, diagnosis, now), { to: 'deadLetter' }];
  }

  #finish(run: Run, outcome: Outcome, decision: Decision, result: SettlementResult): void {
    run.giveBack = undefined;
    if (result === 'abandoned') this.#report.abandoned(run.delivery);
    const work = result === 'sent' || decision.do === 'nothing' ? workOf(outcome) : [];
    const { surroundings } = this;
    const isTold = work.length > 0 || result === 'abandoned' || surroundings.observed();
    if (!isTold) return surroundings.finished(run);
    const settlement = this.#settlementOf(run, outcome, decision, result);
    surroundings.settled(settlement);
    if (work.length === 0) return surroundings.finished(run);
    this.#runWork(work, settlement, 0, () => surroundings.finished(run));
  }

  #settlementOf(
    { delivery, startedAt, copy }: Run,
    outcome: Outcome,
    decision: Decision,
    result: SettlementResult,
  ): Settlement {
    const failure = failureOf(outcome);
    const settlement: { -readonly [Name in keyof Settlement]: Settlement[Name] } = {
      subscription: this.subscription,
      delivery,
      outcome,
      decision,
      attempt: delivery.attempt,
      durationMs: this.surroundings.clock.monotonic() - startedAt,
      settlement: result,
    };
    if (failure !== undefined) settlement.error = failure.error;
    if (copy !== undefined) settlement.copy = copy;
    return Object.freeze(settlement);
  }

  // One piece after the other; without a promise where none of them takes time.
  #runWork(
    work: ReturnType<typeof workOf>,
    settlement: Settlement,
    from: number,
    finished: () => void,
  ): void {
    const failed = (error: unknown): void =>
      this.surroundings.log.error('andAfter', messages.afterWorkThrew, error);
    for (let index = from; index < work.length; index += 1) {
      try {
        const result = work[index]?.(settlement);
        if (!isThenable(result)) continue;
        const goOn = (): void => this.#runWork(work, settlement, index + 1, finished);
        void Promise.resolve(result).then(undefined, failed).then(goOn);
        return;
      } catch (error) {
        failed(error);
      }
    }
    finished();
  }
}
