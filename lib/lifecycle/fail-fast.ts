import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import type { Clock } from '../clock';
import { writeLine } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { FailFastEvent, SettleModuleOptions } from '../model/settle-options';
import { EXIT, LOGGER, SETTLE_OPTIONS } from '../nest/tokens';
import { GracefulShutdown } from './graceful-shutdown';

/** How long the application's own shutdown may take before the process exits without it, in ms. */
const EXIT_LIMIT = 30_000;

/** Shuts the application down after the policy `'failFast'`, then calls `onFailFast` once. */
@Injectable()
export class FailFast {
  #event: FailFastEvent | undefined;

  constructor(
    @Inject(SETTLE_OPTIONS) private readonly options: SettleModuleOptions,
    @Inject(LOGGER) private readonly logger: LoggerService,
    @Inject(EXIT) private readonly exit: (event: FailFastEvent) => void,
    private readonly shutdown: GracefulShutdown,
  ) {}

  /**
   * The first event counts, later ones change nothing. Never throws. Not to be awaited by a delivery: it
   * waits for all of them.
   */
  trigger(event: FailFastEvent): void {
    if (this.#event !== undefined) return;
    this.#event = event;
    void this.shutdown.run().then(() => this.#end(event));
  }

  async #end(event: FailFastEvent): Promise<void> {
    const { onFailFast } = this.options;
    if (onFailFast === undefined) {
      writeLine(this.logger, 'exit', texts.exiting(event.subscription.handler));
      return this.exit(event);
    }
    try {
      await onFailFast(event);
    } catch (error) {
      writeLine(this.logger, 'exit', texts.onFailFastFailed, error);
      this.exit(event);
    }
  }
}

/**
 * Exits the process with code 1 in every mode: through Nest's shutdown hooks if they listen for SIGTERM,
 * also if they end with `process.exit(0)`, and as PID 1, which no signal ends.
 */
export function exitProcess(clock: Clock): void {
  process.exitCode = 1;
  process.once('exit', () => {
    process.exitCode = 1;
  });
  clock.after(EXIT_LIMIT, () => process.exit(1), { background: true });
  if (process.listenerCount('SIGTERM') > 0) process.kill(process.pid, 'SIGTERM');
  else process.exit(1);
}
