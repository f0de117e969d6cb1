import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import { type Clock, within } from '../clock';
import { writeLine } from '../log/subscription-log';
import { texts } from '../log/texts';
import { RunningApplication } from '../nest/running-application';
import { CLOCK, LOGGER } from '../nest/tokens';

/** How long closing the application may take before the process exits all the same, in ms. */
const CLOSING_LIMIT = 30_000;

/** Ends the process, or the worker thread that the application runs in. */
@Injectable()
export class ApplicationExit {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: LoggerService,
    private readonly application: RunningApplication,
  ) {}

  /**
   * Closes the application with its shutdown hooks, whether they are enabled or not, then exits with code
   * 1. No signal is raised: it would reach other applications of the process, would be the reason of its
   * end, and does not end PID 1.
   */
  async run(): Promise<void> {
    process.exitCode = 1;
    // Whoever exits first, as hooks with `useProcessExit` do, exits with this code.
    process.once('exit', () => {
      process.exitCode = 1;
    });
    if (this.application.isClosing) {
      // Whoever closes it ends the process; Nest would call all hooks once more.
      this.clock.after(CLOSING_LIMIT, () => process.exit(1), { background: true });
      return;
    }
    await within(this.clock, CLOSING_LIMIT, this.#close());
    process.exit(1);
  }

  async #close(): Promise<void> {
    try {
      await this.application.close();
    } catch (error) {
      writeLine(this.logger, 'exit', texts.shutdownHookFailed, error);
    }
  }
}
