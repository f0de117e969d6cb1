import type { LoggerService } from '@nestjs/common';
import type { Clock } from '../clock';
import { messages } from '../outcome/messages';

type Level = 'log' | 'warn' | 'error' | 'debug';

const CONTEXT = 'Settle';
const LINES_A_SECOND = 10;

/**
 * Writes one line under the context `Settle`. A logger that throws harms nothing: what it said is
 * emitted as a warning of the process.
 */
export function writeLine(
  logger: LoggerService,
  level: Level,
  line: string,
  error?: unknown,
): void {
  try {
    const stack = stackOf(error);
    if (level === 'error' && stack !== undefined) logger.error(line, stack, CONTEXT);
    else logger[level]?.(line, CONTEXT);
  } catch (thrown) {
    process.emitWarning(messages.loggerThrew(thrown, line), CONTEXT);
  }
}

function stackOf(error: unknown): string | undefined {
  try {
    return error instanceof Error ? error.stack : undefined;
  } catch {
    return undefined;
  }
}

interface Kind {
  since: number;
  written: number;
  held: number;
  /** Whether only lines of the level debug were held back. */
  onlyDebug: boolean;
}

/** A line, or what makes one: called only where the line is written. */
export type LogText = string | (() => string);

/**
 * The log of one subscription: each line begins with its class and method. Of one kind at most 10
 * lines a second are written; how many were held back stands in the next one, or in the last line at
 * the end.
 */
export class SubscriptionLog {
  readonly #kinds = new Map<string, Kind>();

  constructor(
    private readonly logger: LoggerService,
    private readonly handler: string,
    private readonly clock: Clock,
  ) {}

  error(kind: string, text: LogText, error?: unknown): void {
    this.#limited('error', kind, text, error);
  }

  warn(kind: string, text: LogText): void {
    this.#limited('warn', kind, text);
  }

  info(kind: string, text: string): void {
    this.#limited('log', kind, text);
  }

  debug(kind: string, text: LogText): void {
    this.#limited('debug', kind, text);
  }

  /** Says what was held back and not yet counted. */
  flush(): void {
    for (const [kind, state] of this.#kinds) {
      const level = state.onlyDebug ? 'debug' : 'warn';
      if (state.held > 0) this.#write(level, messages.heldBack(kind, state.held));
      state.held = 0;
    }
  }

  #limited(level: Level, kind: string, text: LogText, error?: unknown): void {
    const now = this.clock.monotonic();
    const state = this.#kinds.get(kind) ?? newKind(now);
    this.#kinds.set(kind, state);
    if (now - state.since >= 1_000) {
      state.since = now;
      state.written = 0;
    }
    if (state.written >= LINES_A_SECOND) {
      state.onlyDebug = level === 'debug' && (state.held === 0 || state.onlyDebug);
      state.held += 1;
      return;
    }
    state.written += 1;
    const before = state.held === 0 ? '' : ` (${messages.heldBack(kind, state.held)})`;
    state.held = 0;
    const line = typeof text === 'string' ? text : text();
    this.#write(level, line + before, error);
  }

  #write(level: Level, text: string, error?: unknown): void {
    writeLine(this.logger, level, `${this.handler}: ${text}`, error);
  }
}

function newKind(since: number): Kind {
  return { since, written: 0, held: 0, onlyDebug: false };
}
