import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import { type Clock, countdown, within } from '../clock';
import { writeLine } from '../log/subscription-log';
import { texts } from '../log/texts';
import { ShutdownError } from '../model/errors';
import { CLOCK, LOGGER, RESOLVED_OPTIONS } from '../nest/tokens';
import type { ResolvedSettleOptions } from '../subscribe/resolve-settle-options';
import type { ActiveSubscription } from './active-subscription';
import { ActiveSubscriptions } from './active-subscriptions';
import { SettlementStream } from './settlement-events';
import { SubscriptionStateStream } from './subscription-events';

/** The least time that is left for closing channels and connections, in ms. */
const CLOSING_TIME = 1_000;

/**
 * The shutdown: consumers are cancelled, running handlers finish, what is left is requeued, channels close.
 * One run for all callers; never throws, never hangs.
 */
@Injectable()
export class GracefulShutdown {
  #running: Promise<void> | undefined;

  constructor(
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedSettleOptions,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: LoggerService,
    private readonly active: ActiveSubscriptions,
    private readonly stream: SettlementStream,
    private readonly states: SubscriptionStateStream,
  ) {}

  /** Whether shutdown has begun. */
  get hasBegun(): boolean {
    return this.#running !== undefined;
  }

  run(): Promise<void> {
    this.#running ??= this.#run().catch((error: unknown) => {
      writeLine(this.logger, 'shutdown-failed', texts.shutdownFailed, error);
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    const { clock, options, active } = this;
    const startedAt = clock.monotonic();
    const left = countdown(clock, options.shutdownTimeout);
    const reason = new ShutdownError(texts.shuttingDown);
    active.stopping(reason);
    const running = active.list.filter(({ state }) => state !== 'disabled');
    this.#logBegin(running);
    const drained = this.#drain(running);
    const isDrained = await within(clock, left() - options.abortGracePeriod, drained);
    if (!isDrained) {
      for (const { receiver } of running) receiver.abort(reason);
      await within(clock, left(), drained);
    }
    this.#giveUp(running);
    await this.#close(running, Math.max(CLOSING_TIME, left()));
    for (const one of active.list) one.stopped(reason);
    this.stream.complete();
    this.states.complete();
    if (running.length === 0) return;
    writeLine(this.logger, 'shutdown', texts.shutdownEnds(clock.monotonic() - startedAt));
  }

  #logBegin(running: readonly ActiveSubscription[]): void {
    if (running.length === 0) return;
    const inFlight = running.reduce((sum, { receiver }) => sum + receiver.inFlight, 0);
    writeLine(this.logger, 'shutdown', texts.shutdownBegins(running.length, inFlight));
  }

  // Only once the cancels are confirmed, nothing more can arrive.
  async #drain(running: readonly ActiveSubscription[]): Promise<void> {
    await Promise.all(running.map((one) => one.stopConsuming()));
    await Promise.all(running.map(({ receiver }) => receiver.idle()));
  }

  #giveUp(running: readonly ActiveSubscription[]): void {
    const { shutdownTimeout } = this.options;
    for (const { receiver, subscription } of running) {
      const count = receiver.giveUp();
      if (count === 0) continue;
      const text = texts.shutdownTimedOut(subscription.handler, count, shutdownTimeout);
      writeLine(this.logger, 'shutdown-timeout', text);
    }
  }

  // A channel with a delivery left unsettled closes last: only then the broker redelivers it.
  async #close(running: readonly ActiveSubscription[], limitMs: number): Promise<void> {
    const left = countdown(this.clock, limitMs);
    const close = (some: readonly ActiveSubscription[]): Promise<unknown> =>
      Promise.all(some.map(({ consumer }) => consumer?.close(left())));
    await close(running.filter(({ receiver }) => !receiver.leftUnsettled));
    await close(running.filter(({ receiver }) => receiver.leftUnsettled));
    await Promise.all(this.active.brokers.map((broker) => broker.close(left())));
  }
}
