import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import { writeLine } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { FailFastEvent, SettleModuleOptions } from '../model/settle-options';
import { EXIT, LOGGER, SETTLE_OPTIONS } from '../nest/tokens';
import { GracefulShutdown } from './graceful-shutdown';

/** Shuts the application down after the policy `'failFast'`, then calls `onFailFast` once. */
@Injectable()
export class FailFast {
  #event: FailFastEvent | undefined;

  constructor(
    @Inject(SETTLE_OPTIONS) private readonly options: SettleModuleOptions,
    @Inject(LOGGER) private readonly logger: LoggerService,
    @Inject(EXIT) private readonly exit: (event: FailFastEvent) => unknown,
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
      this.exit(event);
      return;
    }
    try {
      await onFailFast(event);
    } catch (error) {
      writeLine(this.logger, 'exit', texts.onFailFastFailed, error);
      this.exit(event);
    }
  }
}
