import type { LoggerService } from '@nestjs/common';

/** What a line carries beside its text. */
export type LineFields = Readonly<Record<string, string | number | undefined>>;

/**
 * Writes lines as objects for loggers that write JSON: the text is in `message`, and beside it are the facts that
 * the text tells.
 */
export class StructuredLogger implements LoggerService {
  constructor(private readonly target: LoggerService) {}

  log = this.#forwarded('log');
  warn = this.#forwarded('warn');
  error = this.#forwarded('error');
  debug = this.#forwarded('debug');

  /** The line as the logger is to be given it; fields without a value are left out. */
  static line(logger: LoggerService, message: string, fields: LineFields): unknown {
    if (!(logger instanceof StructuredLogger)) return message;
    const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
    return { message, ...Object.fromEntries(entries) };
  }

  #forwarded(level: 'log' | 'warn' | 'error' | 'debug') {
    return (message: unknown, ...rest: unknown[]): void => {
      this.target[level]?.(message, ...rest);
    };
  }
}
