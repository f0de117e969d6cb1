import type { CanActivate, ModuleMetadata, Type } from '@nestjs/common';
import { texts } from '../log/texts';

/** What the page may do besides showing: its requests are answered with 405 otherwise. */
export type ConsoleAction = 'replay' | 'discard' | 'pause';

/** A guard of the page: a class, which Nest resolves in the console's module, or an instance. */
export type ConsoleGuard = Type<CanActivate> | CanActivate;

/**
 * The options of `SettleConsoleModule.forRoot`.
 * @publicApi
 */
export interface SettleConsoleOptions {
  /**
   * Where the page is, below the application's global prefix.
   * @default 'settle'
   * @example 'admin/queues'
   */
  readonly path?: string;
  /**
   * Who may use the page. They run for every request of it, its files included; without any the application
   * does not start.
   * @example [AdminGuard]
   */
  readonly guards: readonly ConsoleGuard[];
  /**
   * The modules that provide what the guards inject.
   * @default []
   * @example [AuthModule]
   */
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
  /**
   * What the page may do: replay dead letters, discard them, pause and resume subscriptions.
   * @default [] (read-only)
   * @example ['replay', 'pause']
   */
  readonly allow?: readonly ConsoleAction[];
  /**
   * Whether the page shows the bodies and the application's own headers of messages, which can hold personal
   * data.
   * @default false
   * @example process.env['NODE_ENV'] !== 'production'
   */
  readonly showPayload?: boolean;
}

/** The options with defaults. */
export interface ResolvedConsoleOptions {
  /** Without slashes at its ends. */
  readonly path: string;
  readonly guards: readonly ConsoleGuard[];
  readonly allow: ReadonlySet<ConsoleAction>;
  readonly showPayload: boolean;
}

const ACTIONS: readonly ConsoleAction[] = ['replay', 'discard', 'pause'];
const NAMES: ReadonlySet<string> = new Set(['path', 'guards', 'imports', 'allow', 'showPayload']);

/** Checks the options; each fault is a line. */
export function resolveConsoleOptions(options: SettleConsoleOptions | undefined): {
  readonly resolved: ResolvedConsoleOptions;
  readonly faults: readonly string[];
} {
  const given: Partial<SettleConsoleOptions> = options ?? {};
  const { path = 'settle', guards = [], allow = [], showPayload = false } = given;
  const faults: string[] = [];
  const fault = (name: string, expected: string, value: unknown): void => {
    faults.push(texts.consoleOption(name, expected, value));
  };
  if (!Array.isArray(guards) || guards.length === 0) faults.push(texts.consoleGuardsMissing);
  else if (!guards.every(isGuard)) {
    fault('guards', 'classes or instances with canActivate', guards.find(isNoGuard));
  }
  const isPath = typeof path === 'string' && /^[\w\-./~]*$/.test(path) && !path.includes('//');
  if (!isPath) fault('path', 'a path of letters, digits, "-", "_", "." and "/"', path);
  const isList = Array.isArray(allow);
  const odd = isList ? allow.find((action) => !ACTIONS.includes(action)) : allow;
  if (odd !== undefined) fault('allow', `some of ${ACTIONS.join(', ')}`, odd);
  if (typeof showPayload !== 'boolean') fault('showPayload', 'true or false', showPayload);
  for (const name of Object.keys(given)) {
    if (!NAMES.has(name)) fault(name, `no such option, but ${[...NAMES].join(', ')}`, name);
  }
  return {
    resolved: {
      path: isPath ? path.replace(/^\/+|\/+$/g, '') : '',
      guards: Array.isArray(guards) ? guards.filter(isGuard) : [],
      allow: new Set(isList ? allow : []),
      showPayload: showPayload === true,
    },
    faults,
  };
}

function isGuard(guard: unknown): boolean {
  if (typeof guard === 'function') return true;
  return typeof (guard as CanActivate | null)?.canActivate === 'function';
}

function isNoGuard(guard: unknown): boolean {
  return !isGuard(guard);
}
