import type { Clock, Timer } from '../clock';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import { type FailureMark, isAboutTheMessage } from '../model/failure-mark';
import { failureMarkOf, type Outcome } from '../model/outcome';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { matchesError } from '../pipeline/error-rules';
import type { InFlight } from '../settlement/in-flight';
import { type AttemptResult, KillSwitch, type KillSwitchChange } from './kill-switch';
import type { SubscriptionPausing } from './subscription-pausing';

/** What a kill switch works with. */
export interface KillSwitchDependencies {
  readonly subscription: SubscriptionMetadata;
  readonly options: NonNullable<SubscriptionMetadata['killSwitch']>;
  readonly pausing: SubscriptionPausing;
  readonly log: SubscriptionLog;
  readonly clock: Clock;
}

/** The kill switch of one consumer: judges attempts, pauses the subscription and lets it probe. */
export class SubscriptionKillSwitch {
  readonly #switch: KillSwitch;
  #timer: Timer | undefined;

  constructor(private readonly dependencies: KillSwitchDependencies) {
    this.#switch = new KillSwitch(dependencies.options);
  }

  /** An attempt has ended; returns whether the message is to go back without an attempt. */
  releases({ delivery, startedAt }: InFlight, outcome: Outcome): boolean {
    const failure = failureMarkOf(outcome);
    const result = this.#resultOf(failure, delivery);
    const isClosed = this.#switch.state === 'closed';
    const now = this.dependencies.clock.monotonic();
    const change = this.#switch.ended(result, startedAt, now);
    if (change !== undefined) this.#changed(change, failure?.error);
    return result === 'failure' && !isClosed;
  }

  /** Trips by hand, if it is closed. */
  trip(): void {
    const change = this.#switch.trip();
    if (change !== undefined) this.#changed(change, undefined);
  }

  /** Handles messages again, as if nothing had failed. */
  close(): void {
    this.#timer?.cancel();
    this.#switch.close();
  }

  /** Never pauses or probes again. */
  stop(): void {
    this.#timer?.cancel();
  }

  #changed(change: KillSwitchChange, error: unknown): void {
    const { subscription, options, pausing, log, clock } = this.dependencies;
    const { queue } = subscription;
    if (change.to === 'closed') {
      log.write('kill-switch-closed', texts.killSwitchClosed(queue));
      return pausing.untrip();
    }
    const { counts, pauseMs } = change;
    log.write('kill-switch-tripped', () =>
      texts.killSwitchTripped(queue, { ...counts, window: options.window }, pauseMs, error),
    );
    pausing.trip(error);
    this.#timer = clock.after(pauseMs, () => {
      log.write('kill-switch-probing', texts.killSwitchProbing(queue));
      this.#switch.probe(clock.monotonic());
      pausing.probe();
    });
  }

  // Bugs, and what only the message can have caused, say nothing about what handlers depend on.
  #resultOf(failure: FailureMark | undefined, delivery: InFlight['delivery']): AttemptResult {
    if (failure === undefined) return 'success';
    const { cause, error, policy } = failure;
    if (cause === 'panic' || isAboutTheMessage(cause)) return 'neutral';
    const matches = (match: Parameters<typeof matchesError>[0]): boolean =>
      matchesError(match, error, delivery, (thrown) =>
        this.dependencies.log.write('predicate-failed', texts.killSwitchThrew(delivery), thrown),
      );
    const { on } = this.dependencies.options;
    if (on !== undefined) return matches(on) ? 'failure' : 'neutral';
    const { rules, otherwise } = delivery.subscription.onError;
    const ends = policy === 'drop' || policy === 'skip';
    const isDecided = typeof otherwise === 'function' || rules.some(({ match }) => matches(match));
    return ends && isDecided ? 'neutral' : 'failure';
  }
}
