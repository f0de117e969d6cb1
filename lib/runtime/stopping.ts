import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import type { Broker } from '../broker/port';
import { type Clock, countdown, within } from '../clock';
import { StoppingError } from '../outcome/errors';
import { messages } from '../outcome/messages';
import { writeLine } from '../subscription/log';
import type { ActiveSubscription } from './active-subscription';
import type { SettleTerms } from './module-options';
import { SettlementEvents } from './settlement-events';
import { CLOCK, LOGGER, TERMS } from './tokens';

/** The least time that is left for closing channels and connections, in ms. */
const CLOSING_TIME = 1_000;

/**
 * The end: the intake stops first, begun handlers finish, what is left goes back, channels close. One run
 * for all who ask; never throws, never hangs.
 */
@Injectable()
export class Stopping {
  #stopping: Promise<void> | undefined;
  #active: readonly ActiveSubscription[] = [];
  #brokers: readonly Broker[] = [];

  constructor(
    @Inject(TERMS) private readonly terms: SettleTerms,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: LoggerService,
    private readonly events: SettlementEvents,
  ) {}

  /** Whether stopping has begun. */
  get begun(): boolean {
    return this.#stopping !== undefined;
  }

  /** What is to be stopped. */
  register(active: readonly ActiveSubscription[], brokers: readonly Broker[]): void {
    this.#active = active;
    this.#brokers = brokers;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#run().catch((error: unknown) => {
      writeLine(this.logger, 'error', messages.stoppingFailed, error);
    });
    return this.#stopping;
  }

  async #run(): Promise<void> {
    const { clock, terms } = this;
    const left = countdown(clock, terms.shutdownTimeout);
    const reason = new StoppingError(messages.stopping);
    const running = this.#active.filter(({ state }) => state !== 'skipped');
    const drained = this.#drain(running);
    const isDrained = await within(clock, left() - terms.abortBefore, drained);
    if (!isDrained) {
      for (const { receiver } of running) receiver.abort(reason);
      await within(clock, left(), drained);
    }
    for (const { receiver, subscription } of running) {
      const count = receiver.giveUp();
      if (count > 0) {
        writeLine(this.logger, 'warn', messages.gaveUp(subscription.handler, count));
      }
    }
    await this.#close(running, Math.max(CLOSING_TIME, left()));
    for (const active of this.#active) active.stopped(reason);
    this.events.complete();
  }

  // Only when the cancels are confirmed, nothing more can come in.
  async #drain(running: readonly ActiveSubscription[]): Promise<void> {
    await Promise.all(running.map((active) => active.stopIntake()));
    await Promise.all(running.map(({ receiver }) => receiver.idle()));
  }

  // A channel with a delivery left unsettled closes last: only then the broker hands that out again.
  async #close(running: readonly ActiveSubscription[], limitMs: number): Promise<void> {
    const left = countdown(this.clock, limitMs);
    const close = (some: readonly ActiveSubscription[]): Promise<unknown> =>
      Promise.all(some.map(({ consumer }) => consumer?.close(left())));
    await close(running.filter(({ receiver }) => !receiver.leftUnsettled));
    await close(running.filter(({ receiver }) => receiver.leftUnsettled));
    await Promise.all(this.#brokers.map((broker) => broker.close(left())));
  }
}
