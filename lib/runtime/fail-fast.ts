import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import type { Clock } from '../clock';
import type { Delivery } from '../delivery/delivery';
import { messages } from '../outcome/messages';
import { writeLine } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import type { SettleModuleOptions } from './module-options';
import { LEAVE, LOGGER, SETTLE_OPTIONS } from './tokens';

/**
 * A failure policy has stopped the service.
 * @publicApi
 */
export interface FailFastEvent {
  readonly subscription: Subscription;
  /** Left unsettled: the broker hands it out again once its channel has closed. */
  readonly delivery: Delivery;
  readonly error: unknown;
}

/** How long the application's own shutdown may take before the process leaves without it, in ms. */
const LEAVING_LIMIT = 30_000;

/** Says once, after the drain, that the service has stopped itself. */
@Injectable()
export class FailFast {
  #event: FailFastEvent | undefined;

  constructor(
    @Inject(SETTLE_OPTIONS) private readonly options: SettleModuleOptions,
    @Inject(LOGGER) private readonly logger: LoggerService,
    @Inject(LEAVE) private readonly leave: (event: FailFastEvent) => void,
  ) {}

  /**
   * The first panic wins: `stop` drains everything, then `onFailFast` is called. Later ones change
   * nothing. The settler has told of it already. Never throws; what it starts is not to be awaited by
   * a delivery, for which it waits.
   */
  trigger(event: FailFastEvent, stop: () => Promise<void>): void {
    if (this.#event !== undefined) return;
    this.#event = event;
    void stop().then(() => this.#tell(event));
  }

  async #tell(event: FailFastEvent): Promise<void> {
    const { onFailFast } = this.options;
    if (onFailFast === undefined) return this.leave(event);
    try {
      await onFailFast(event);
    } catch (error) {
      writeLine(this.logger, 'error', messages.onFailFastThrew, error);
      this.leave(event);
    }
  }
}

/**
 * Ends the process with a non-zero exit code in every mode: through Nest's shutdown hooks where they
 * listen for SIGTERM, also where they end with `process.exit(0)`, and as PID 1, which no signal ends.
 */
export function leaveProcess(clock: Clock): void {
  process.exitCode = 1;
  process.once('exit', () => {
    process.exitCode = 1;
  });
  clock.after(LEAVING_LIMIT, () => process.exit(1), { background: true });
  if (process.listenerCount('SIGTERM') > 0) process.kill(process.pid, 'SIGTERM');
  else process.exit(1);
}
