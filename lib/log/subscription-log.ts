import type { LoggerService } from '@nestjs/common';
import type { Clock } from '../clock';
import { escaped, found, type MessageFacts, stackText } from './format';
import { LOG_KINDS, type LogKind, type LogLevel } from './kinds';
import { type LineFields, StructuredLogger } from './structured-logger';
import { texts } from './texts';
import { thrownMessage, thrownName } from './thrown';

const CONTEXT = 'Settle';
const LINES_PER_SECOND = 10;
const LONGEST_ERROR = 1_000;

/** The message that a line is about, and what was decided about it. */
export type LineFacts = MessageFacts & { readonly decision?: string; readonly reason?: string };

/** A text, or a function that makes it: called only if the line is written. */
export type LogText = string | (() => string);

/** Writes one line of the application under the context `Settle`. Never throws. */
export function writeLine(
  logger: LoggerService,
  kind: LogKind,
  text: string,
  error?: unknown,
): void {
  writeTo(logger, LOG_KINDS[kind], `[${kind}] ${text}`, { kind }, error);
}

/**
 * The log of one subscription. Each line begins with its class and method and its kind. At most 10
 * lines per second and kind are written; the next line, or {@link flush}, says how many were
 * suppressed.
 */
export class SubscriptionLog {
  readonly #states = new Map<LogKind, KindState>();

  constructor(
    private readonly logger: LoggerService,
    private readonly handler: string,
    private readonly clock: Clock,
  ) {}

  /** Writes a line at the level of its kind; the stack of an `error` goes with an error line. */
  write(kind: LogKind, text: LogText, error?: unknown, about?: LineFacts): void {
    this.#limited(LOG_KINDS[kind], kind, text, error, about);
  }

  /** Writes a line at the level `debug`: something that the handler itself asked for. */
  debug(kind: LogKind, text: LogText, about?: LineFacts): void {
    this.#limited('debug', kind, text, undefined, about);
  }

  /** Reports suppressed lines that no other line has reported. */
  flush(): void {
    for (const [kind, state] of this.#states) {
      const { suppressed, level } = state;
      if (suppressed > 0) this.#write(level, kind, texts.suppressed(kind, suppressed));
      state.suppressed = 0;
    }
  }

  #limited(
    level: LogLevel,
    kind: LogKind,
    text: LogText,
    error?: unknown,
    about?: LineFacts,
  ): void {
    const now = this.clock.monotonic();
    let state = this.#states.get(kind);
    if (state === undefined) {
      state = { since: now, written: 0, suppressed: 0, level: 'debug' };
      this.#states.set(kind, state);
    }
    if (now - state.since >= 1_000) {
      state.since = now;
      state.written = 0;
    }
    if (state.written >= LINES_PER_SECOND) {
      const isOnlyDebug = level === 'debug' && (state.suppressed === 0 || state.level === 'debug');
      state.level = isOnlyDebug ? 'debug' : LOG_KINDS[kind];
      state.suppressed += 1;
      return;
    }
    state.written += 1;
    const { suppressed } = state;
    state.suppressed = 0;
    const suffix = suppressed === 0 ? '' : ` (${texts.suppressed(kind, suppressed)})`;
    this.#write(level, kind, (typeof text === 'string' ? text : text()) + suffix, error, about);
  }

  #write(level: LogLevel, kind: LogKind, text: string, error?: unknown, about?: LineFacts): void {
    const { handler } = this;
    const fields = { kind, handler, ...(about && fieldsOf(about)) };
    writeTo(this.logger, level, `${handler} [${kind}] ${text}`, fields, error);
  }
}

interface KindState {
  since: number;
  written: number;
  suppressed: number;
  /** The level of the line that reports the suppressed ones. */
  level: LogLevel;
}

// A logger that throws harms nothing: its line becomes a warning of the process.
function writeTo(
  logger: LoggerService,
  level: LogLevel,
  text: string,
  fields: LineFields,
  error?: unknown,
): void {
  const shown = escaped(text);
  try {
    const line = StructuredLogger.line(logger, shown, { ...fields, ...errorFields(error) });
    const stack = stackText(error);
    if (level === 'error' && stack !== undefined) logger.error(line, stack, CONTEXT);
    else logger[level]?.(line, CONTEXT);
  } catch (thrown) {
    process.emitWarning(escaped(texts.loggerThrew(found(thrown), shown)), CONTEXT);
  }
}

function fieldsOf({ queue, messageId, attempt, subscription, decision, reason }: LineFacts) {
  return { queue, messageId, attempt, attempts: subscription.retry?.attempts, decision, reason };
}

function errorFields(error: unknown): LineFields {
  if (error === undefined) return {};
  return {
    errorName: thrownName(error),
    errorMessage: thrownMessage(error).slice(0, LONGEST_ERROR),
  };
}
