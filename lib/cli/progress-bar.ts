import type { CliHost } from './host';

const WIDTH = 30;

/** A bar on standard error while a replay runs; nothing in a pipe. */
export class ProgressBar {
  #isShown = false;

  constructor(private readonly host: CliHost) {}

  /** @param text what stands behind the bar. */
  show(done: number, total: number, text: string): void {
    if (!this.host.errIsTerminal || total === 0) return;
    const filled = Math.round((Math.min(done, total) / total) * WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
    this.host.err(`\r\u001b[2K${bar} ${text}`);
    this.#isShown = true;
  }

  /** Removes the bar. */
  end(): void {
    if (this.#isShown) this.host.err('\r\u001b[2K');
    this.#isShown = false;
  }
}
