import type { LoggerService } from '@nestjs/common';

/** Records the lines that the module logs. */
export class LogRecorder implements LoggerService {
  readonly lines: { level: string; text: string; rest: unknown[] }[] = [];

  log = this.#recorder('log');
  warn = this.#recorder('warn');
  error = this.#recorder('error');
  debug = this.#recorder('debug');

  #recorder(level: string) {
    return (text: unknown, ...rest: unknown[]): void => {
      this.lines.push({ level, text: String(text), rest });
    };
  }

  /** The lines of some levels that match a pattern. */
  matching(pattern: RegExp, levels: readonly string[] = ['log', 'warn', 'error']): string[] {
    // A process of tests loads the handlers of all its tests: only those that look for the line see it.
    const isOfOthers = (text: string): boolean =>
      text.startsWith('[unused-handlers]') && !pattern.source.includes('unused-handlers');
    return this.lines
      .filter(
        ({ level, text }) => levels.includes(level) && pattern.test(text) && !isOfOthers(text),
      )
      .map(({ text }) => text);
  }
}

/** Discards what is logged. */
export const silentLogger: LoggerService = {
  log: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
